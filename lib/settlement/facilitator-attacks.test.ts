import { eq } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import * as identity from "#lib/identity/keys/contract.ts";
import { answerSettle } from "#lib/execute/answer-settle.ts";
import { readAsked } from "#lib/execute/settlement-request.ts";
import { settleMethods, verifyMethods } from "#lib/server/serve-facilitator.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";
import { plainSettlements } from "#lib/settlement/tables.ts";
import { transferTypes } from "#lib/onchain/token.ts";
import { useDatabase } from "#test/database.ts";
import { authorized, execute, expectedOf, paymentScene, signed, useSettlement, fundedWallet } from "#test/payments.ts";
import { newSeller } from "#test/sellers.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement({ facilitatorTimeoutMs: 2_500 });

type Payload = { accepted: object; payload: { signature: string } };
const decode = (header: string): Payload => JSON.parse(Buffer.from(header, "base64").toString()) as Payload;

async function ask(endpoint: "verify" | "settle", as: Credential, paymentPayload: Payload) {
  const request = new Request(`http://localhost:3000/api/x402/${endpoint}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...as },
    body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted }),
  });
  const response = await (endpoint === "verify" ? verifyMethods : settleMethods).POST(request);
  return (await response.json()) as { isValid?: boolean; success?: boolean; invalidReason?: string; errorReason?: string };
}

/** A second seller's organization, with a key for this service's facilitator, and a resource that is paid to this address. */
async function rival(payTo: Address) {
  const organizationId = await createOrganization("Rival");
  const owner = await createPerson(organizationId);
  await newSeller(owner.credential, { price: "0.25", payTo });
  return createAgent(organizationId, ["payments:settle"]);
}

async function settledByUs() {
  const scene = await paymentScene({ settlementMode: "facilitatorSettled" });
  const { authorizationId } = await authorized(scene);
  const paymentCredential = await signed(await fundedWallet(chain()), expectedOf(scene));
  const { data } = await execute(scene, { authorizationId, paymentCredential });
  expect(data.settlementStatus).toBe("settled");
  const seller = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
  return { scene, seller, credential: decode(paymentCredential) };
}

afterEach(() => chain().client.setAutomine(true));

const wrongSignature = "invalid_exact_evm_payload_signature";

type Authorization = { readonly nonce: string; readonly validBefore: string };

/** A payment without a mandate whose transaction was sent and is in no block yet. */
async function plainUnderWay() {
  const scene = await paymentScene();
  const wallet = await fundedWallet(chain());
  const credential = decode(await signed(wallet, expectedOf(scene)));
  const { credential: seller } = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
  await chain().client.setAutomine(false);
  expect(await ask("settle", seller, credential)).toMatchObject({ success: false, errorReason: "settlement_pending" });
  /** Signs the payment again, with the same nonce and another validBefore. */
  const sign = async (lifeOf: (validBefore: string) => string): Promise<Payload> => {
    const { authorization } = credential.payload as unknown as { authorization: Authorization };
    const message = { ...authorization, validBefore: lifeOf(authorization.validBefore) };
    const signature = await wallet.signTypedData({
      domain: { name: "USDC", version: "2", chainId: 84532, verifyingContract: expectedOf(scene).asset.tokenAddress },
      types: transferTypes,
      primaryType: "TransferWithAuthorization",
      message: message as never,
    });
    return { ...credential, payload: { authorization: message, signature } as unknown as Payload["payload"] };
  };
  return { seller, credential, sign };
}

describe("this service's facilitator under attack", () => {
  test("a settlement is not reported to another organization that registered the same payTo", async () => {
    const { scene, seller, credential } = await settledByUs();
    const other = await rival(scene.seller.payTo);
    expect(await ask("verify", other.credential, credential)).toMatchObject({ isValid: false });
    expect(await ask("settle", other.credential, credential)).toMatchObject({ success: false });
    expect(await ask("settle", seller.credential, credential)).toMatchObject({ success: true });
  });

  test("a payment with an invented signature is not valid, although the real one was settled", async () => {
    const { seller, credential } = await settledByUs();
    const forged = { ...credential, payload: { ...credential.payload, signature: `0x${"11".repeat(64)}1b` } };
    expect(await ask("verify", seller.credential, forged)).toMatchObject({
      isValid: false,
      invalidReason: "invalid_exact_evm_payload_signature",
    });
    expect(await ask("settle", seller.credential, forged)).toMatchObject({ success: false });
    expect(await ask("settle", seller.credential, credential)).toMatchObject({ success: true });
  });

  test("a copy of a payment without a mandate, with an invented signature, is not valid, and does not use up the real one", async () => {
    const { seller, credential } = await plainUnderWay();
    const forged = { ...credential, payload: { ...credential.payload, signature: `0x${"11".repeat(64)}1b` } };
    expect(await ask("verify", seller, forged)).toMatchObject({ isValid: false, invalidReason: wrongSignature });
    await chain().client.mine({ blocks: 1 });
    expect(await ask("verify", seller, forged)).toMatchObject({ isValid: false, invalidReason: wrongSignature });
    expect(await ask("settle", seller, forged)).toMatchObject({ success: false, errorReason: wrongSignature });
    const { signature } = credential.payload;
    const shouted = { ...credential, payload: { ...credential.payload, signature: `0x${signature.slice(2).toUpperCase()}` } };
    expect(await ask("verify", seller, shouted)).toMatchObject({ isValid: true });
    expect(await ask("settle", seller, credential)).toMatchObject({ success: true });
  });

  test("a second signature for a nonce, with a longer validity, does not get the answer for the first signature", async () => {
    const { seller, credential, sign } = await plainUnderWay();
    const longer = await sign((life) => String(Number(life) + 60));
    await chain().client.mine({ blocks: 1 });
    expect(await ask("verify", seller, longer)).toMatchObject({ isValid: false, invalidReason: wrongSignature });
    expect(await ask("settle", seller, longer)).toMatchObject({ success: false, errorReason: wrongSignature });
    expect(await ask("settle", seller, credential)).toMatchObject({ success: true });
  });

  test("a payer who signs one nonce twice cannot end one seller's settlement with another's", async () => {
    const first = await paymentScene();
    const wallet = await fundedWallet(chain());
    const seller = await createAgent(first.sellerOrganizationId, ["payments:settle"]);
    const credential = decode(await signed(wallet, expectedOf(first)));
    await chain().fund(settlementAccount().address, 0n);
    expect(await ask("settle", seller.credential, credential)).toMatchObject({ success: false });
    await chain().fund(settlementAccount().address);
    await database()
      .update(plainSettlements)
      .set({ createdAt: new Date(0) });
    const second = await paymentScene();
    const { authorization } = credential.payload as unknown as { authorization: { nonce: Hex; validBefore: string } };
    const other = await createAgent(second.sellerOrganizationId, ["payments:settle"]);
    const twin = decode(await signed(wallet, expectedOf(second)));
    const message = {
      ...(twin.payload as unknown as { authorization: Record<string, string> }).authorization,
      nonce: authorization.nonce,
    };
    const signature = await wallet.signTypedData({
      domain: { name: "USDC", version: "2", chainId: 84532, verifyingContract: expectedOf(second).asset.tokenAddress },
      types: transferTypes,
      primaryType: "TransferWithAuthorization",
      message: message as never,
    });
    const double = { ...twin, payload: { authorization: message, signature } } as unknown as Payload;
    expect(await ask("settle", other.credential, double)).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_nonce_already_used",
    });
    const [row] = await database()
      .select({ status: plainSettlements.status })
      .from(plainSettlements)
      .where(eq(plainSettlements.organizationId, first.sellerOrganizationId));
    expect(row?.status).toBe("processing");
  });

  test("a key that is revoked during the request starts no settlement", async () => {
    const scene = await paymentScene();
    const agent = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
    const seller = await authenticate(new Request("http://localhost:3000/", { headers: agent.credential }));
    if (seller?.kind !== "key") throw new Error("A key authenticates as one.");
    const credential = decode(await signed(await fundedWallet(chain()), expectedOf(scene)));
    const asked = await readAsked(
      { x402Version: 2, paymentPayload: credential, paymentRequirements: credential.accepted },
      scene.sellerOrganizationId,
    );
    if (!asked.ok) throw new Error(asked.detail);
    const revoked = await send(identity.revokeServiceAccount, revokeServiceAccount, {
      as: scene.owner.credential,
      id: agent.serviceAccountId,
      body: {},
    });
    expect(revoked.status).toBe(200);
    expect(await answerSettle(asked, seller)).toMatchObject({ success: false });
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(0n);
  });
});
