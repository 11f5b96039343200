import { decodePaymentResponseHeader, HTTPFacilitatorClient } from "@x402/core/http";
import { SettleError, VerifyError, type Network, type PaymentPayload, type PaymentRequirements } from "@x402/core/types";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/client";
import { Types } from "mppx/x402";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { usdcAddress } from "../../examples/chain.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import {
  authorized,
  execute,
  expectedOf,
  newWallet,
  paymentScene,
  signed,
  useSettlement,
  type PaymentScene,
  fundedWallet,
  blacklist,
} from "#test/payments.ts";
import { listenService, ourFacilitator, type ListeningServer } from "#test/shop.ts";
import { createAgent } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
let service: ListeningServer;
beforeAll(async () => {
  service = await listenService();
});
afterAll(() => service.close());

/** This service as an x402 facilitator, called by the standard client of a seller's server. */
async function facilitatorOf({ sellerOrganizationId }: PaymentScene) {
  const account = await createAgent(sellerOrganizationId, ["payments:settle"]);
  return ourFacilitator(service, account.credential["authorization"] ?? "");
}

const idOf = async (scene: PaymentScene) => ({ authorizationId: (await authorized(scene)).authorizationId });

/** Records which RPC methods of the chain are called during the work. */
async function askedOfChain(work: () => Promise<void>): Promise<string[]> {
  const calls = vi.spyOn(globalThis, "fetch");
  await work();
  const bodies = calls.mock.calls.flatMap(([input, init]) =>
    input instanceof Request || !String(input).startsWith(chain().rpcUrl) || typeof init?.body !== "string" ? [] : [init.body],
  );
  calls.mockRestore();
  return bodies.flatMap((body) => JSON.parse(body) as { method: string } | { method: string }[]).map(({ method }) => method);
}

const payloadOf = (header: string): PaymentPayload => JSON.parse(Buffer.from(header, "base64").toString()) as PaymentPayload;

describe("the time until a signed payment expires", () => {
  test.each([10, 20, 29])("verify and settle accept %i seconds", async (seconds) => {
    const scene = await paymentScene();
    const facilitator = await facilitatorOf(scene);
    const payload = payloadOf(await signed(await fundedWallet(chain()), expectedOf(scene, seconds)));
    expect(await facilitator.verify(payload, payload.accepted)).toMatchObject({ isValid: true });
    expect(await facilitator.settle(payload, payload.accepted)).toMatchObject({ success: true });
  });

  test("verify refuses 5 seconds", async () => {
    const scene = await paymentScene();
    const facilitator = await facilitatorOf(scene);
    const payload = payloadOf(await signed(await fundedWallet(chain()), expectedOf(scene, 5)));
    expect(await facilitator.verify(payload, payload.accepted)).toMatchObject({
      isValid: false,
      invalidReason: "invalid_exact_evm_payload_authorization_valid_before",
    });
  });

  test("executePayment accepts 20 seconds if the seller settles, and needs 30 if this service settles", async () => {
    const theirs = await paymentScene();
    const credential = await signed(await fundedWallet(chain()), expectedOf(theirs, 20));
    const first = await execute(theirs, { ...(await idOf(theirs)), paymentCredential: credential });
    expect([first.status, first.data.settlementStatus]).toEqual([200, "pending"]);
    const ours = await paymentScene({ settlementMode: "facilitatorSettled" });
    const short = await signed(await fundedWallet(chain()), expectedOf(ours, 29));
    const second = await execute(ours, { ...(await idOf(ours)), paymentCredential: short });
    expect([second.status, second.problem.code]).toEqual([402, "credential_expired"]);
  });
});

/** Requests that the facilitator refuses, each for another reason; `good` is a payment that it would accept. */
async function refusedRequests(scene: PaymentScene) {
  const { credential } = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
  const reader = await createAgent(scene.sellerOrganizationId, ["mandates:read"]);
  const header = await signed(await fundedWallet(chain()), expectedOf(scene));
  const expired = payloadOf(await signed(newWallet(), expectedOf(scene, 5)));
  const good = payloadOf(header);
  const { accepted } = good;
  const body = { x402Version: 2, paymentPayload: good, paymentRequirements: accepted };
  const required = (change: object) => ({ ...body, paymentRequirements: { ...accepted, ...change } });
  const payload = (change: object) => ({ ...body, paymentPayload: { ...good, ...change } });
  const signedBy = (change: object) => payload({ payload: { ...good.payload, ...change } });
  const authorization = (change: object) =>
    signedBy({ authorization: { ...(good.payload["authorization"] as object), ...change } });
  const json = { ...credential, "content-type": "application/json" };
  const bodies: unknown[] = [
    null,
    {},
    { ...body, paymentRequirements: {} },
    { ...body, paymentPayload: [] },
    ...[{ network: "" }, { network: "x\u0000".repeat(40) }, { network: "eip155:1" }, { network: "base-sepolia" }].map(required),
    ...[{ scheme: "upto" }, { asset: newWallet().address }, { amount: "0" }, { amount: "1" }, { amount: "-" }].map(required),
    ...[{ payTo: newWallet().address }, { payTo: "" }, { maxTimeoutSeconds: 0 }, { extra: 1 }].map(required),
    ...[{ x402Version: 1 }, { payload: {} }, { accepted: {} }, { resource: 1 }].map(payload),
    ...[{ signature: "0x" }, { signature: `0x${"11".repeat(65)}` }].map(signedBy),
    ...[{ validAfter: "99999999999" }, { from: newWallet().address }, { value: "1" }, { nonce: "0x" }].map(authorization),
    { x402Version: 2, paymentPayload: expired, paymentRequirements: expired.accepted },
    { ...body, x402Version: 1 },
    { ...body, x402Version: 1, paymentPayload: { x402Version: 1 }, paymentRequirements: { network: "no-such" } },
  ];
  const asked = (headers: Record<string, string>, text: string, method = "POST") => ({
    method,
    headers,
    ...(method === "POST" && { body: text }),
  });
  const text = JSON.stringify(body);
  return [
    ...bodies.map((one) => asked(json, JSON.stringify(one))),
    ...["", "{", "\u0000", JSON.stringify({ a: "x".repeat(70_000) })].map((one) => asked(json, one)),
    asked({ "content-type": "application/json" }, text),
    asked({ ...json, authorization: "Bearer nobody" }, text),
    asked({ ...json, ...scene.owner.credential }, text),
    asked({ ...reader.credential, "content-type": "application/json" }, text),
    asked({ ...credential, "content-type": "text/plain" }, text),
    asked(json, text, "GET"),
  ];
}

describe.each(["verify", "settle"] as const)("every refusal of /%s", (endpoint) => {
  test("fits the schemas of @x402/core and of mppx", async () => {
    const scene = await paymentScene();
    const requests = await refusedRequests(scene);
    const answers = new Set<string>();
    for (const request of requests) {
      const reply = await fetch(`${service.url}/api/x402/${endpoint}`, request);
      const text = await reply.text();
      const schema = endpoint === "verify" ? Types.VerifyResponseSchema : Types.SettleResponseSchema;
      const parsed = schema.safeParse(JSON.parse(text));
      expect(parsed.success, text).toBe(true);
      const answered = vi.spyOn(globalThis, "fetch").mockResolvedValueOnce(new Response(text, reply));
      const client = new HTTPFacilitatorClient({ url: "http://localhost" });
      const read = client[endpoint]({ x402Version: 2 } as PaymentPayload, {} as PaymentRequirements);
      const outcome = await read.catch((error: unknown) => error);
      answered.mockRestore();
      if (outcome instanceof VerifyError || outcome instanceof SettleError) expect(outcome.statusCode).toBe(reply.status);
      else expect(outcome).toMatchObject(endpoint === "verify" ? { isValid: false } : { success: false });
      answers.add(
        `${reply.status} ${(JSON.parse(text) as Record<string, string>)[endpoint === "verify" ? "invalidReason" : "errorReason"]}`,
      );
    }
    expect(answers.size).toBeGreaterThan(15);
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(0n);
  });
});

describe("a payer whom the token refuses", () => {
  test("is not valid for the seller, and nothing is executed", async () => {
    const scene = await paymentScene();
    const facilitator = await facilitatorOf(scene);
    const wallet = await fundedWallet(chain());
    const header = await signed(wallet, expectedOf(scene));
    const payload = payloadOf(header);
    expect(await facilitator.verify(payload, payload.accepted)).toMatchObject({ isValid: true });
    await chain().mined(blacklist(chain(), wallet.address));
    expect(await facilitator.verify(payload, payload.accepted)).toMatchObject({
      isValid: false,
      invalidReason: "invalid_transaction_state",
    });
    const { status, problem } = await execute(scene, { ...(await idOf(scene)), paymentCredential: header });
    expect([status, problem.code]).toEqual([402, "settlement_rejected"]);
  });

  test("is found with one call to the chain; further calls only look for the reason of a refusal", async () => {
    const scene = await paymentScene();
    const facilitator = await facilitatorOf(scene);
    const good = payloadOf(await signed(await fundedWallet(chain()), expectedOf(scene)));
    const asked = await askedOfChain(async () => {
      expect(await facilitator.verify(good, good.accepted)).toMatchObject({ isValid: true });
    });
    expect(asked).toEqual(["eth_call"]);
    const poor = payloadOf(await signed(await fundedWallet(chain(), 1n), expectedOf(scene)));
    expect(await facilitator.verify(poor, poor.accepted)).toMatchObject({ isValid: false, invalidReason: "insufficient_funds" });
  });
});

describe("x402 version 1", () => {
  const requirementsOf = (scene: PaymentScene) => ({
    scheme: "exact",
    network: "base-sepolia",
    maxAmountRequired: "250000",
    resource: "https://shop.example.com/report",
    description: "A report",
    mimeType: "application/json",
    payTo: scene.seller.payTo,
    maxTimeoutSeconds: 60,
    asset: usdcAddress,
    outputSchema: {},
    extra: { name: "USDC", version: "2" },
  });

  /** Makes the signed payment of a standard x402 client of version 1, for a 402 response of version 1. */
  async function signedV1(scene: PaymentScene, change: Partial<ReturnType<typeof requirementsOf>> = {}) {
    const required = requirementsOf(scene) as unknown as PaymentRequirements;
    const signer = new ExactEvmSchemeV1(await fundedWallet(chain()));
    const payload = await signer.createPaymentPayload(1, { ...required, ...change } as PaymentRequirements);
    return { required, payload: payload as unknown as PaymentPayload };
  }

  test("verify and settle answer a standard version 1 client in version 1, once", async () => {
    const scene = await paymentScene();
    const facilitator = await facilitatorOf(scene);
    const { payload, required } = await signedV1(scene);
    expect(await facilitator.verify(payload, required)).toMatchObject({ isValid: true });
    expect(await facilitator.settle(payload, required)).toMatchObject({ success: true, network: "base-sepolia" });
    expect(await facilitator.settle(payload, required)).toMatchObject({ success: false, network: "base-sepolia" });
    expect(await facilitator.verify(payload, required)).toMatchObject({ isValid: false });
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n);
  });

  test("a signed payment for another amount, payee, network or token domain is not valid", async () => {
    const scene = await paymentScene();
    const facilitator = await facilitatorOf(scene);
    for (const [change, invalidReason] of [
      [{ maxAmountRequired: "1" }, "invalid_exact_evm_payload_authorization_value_mismatch"],
      [{ payTo: newWallet().address }, "invalid_exact_evm_payload_recipient_mismatch"],
      [{ network: "base" }, "invalid_network"],
      [{ extra: { name: "USD Coin", version: "2" } }, "invalid_exact_evm_payload_signature"],
    ] as const) {
      const { payload, required } = await signedV1(scene, change);
      expect(await facilitator.verify(payload, required)).toMatchObject({ isValid: false, invalidReason });
    }
  });

  test("executePayment returns the signed payment in both versions, and settles it with a receipt of each version", async () => {
    const scene = await paymentScene({ settlementMode: "facilitatorSettled" });
    const { payload } = await signedV1(scene);
    const header = Buffer.from(JSON.stringify(payload)).toString("base64");
    const { status, data } = await execute(scene, { ...(await idOf(scene)), paymentCredential: header });
    expect([status, data.settlementStatus]).toEqual([200, "settled"]);
    const headers = data.credentialHeaders ?? {};
    expect(Object.keys(headers).toSorted()).toEqual(["PAYMENT-RESPONSE", "PAYMENT-SIGNATURE", "X-PAYMENT", "X-PAYMENT-RESPONSE"]);
    expect(JSON.parse(Buffer.from(headers["X-PAYMENT"] ?? "", "base64").toString())).toEqual(payload);
    expect(decodePaymentResponseHeader(headers["X-PAYMENT-RESPONSE"] ?? "")).toMatchObject({
      success: true,
      network: "base-sepolia",
      transaction: data.settlementReference,
    });
    const seller = await facilitatorOf(scene);
    expect(await seller.settle(payload, requirementsOf(scene) as unknown as PaymentRequirements)).toMatchObject({
      success: true,
      transaction: data.settlementReference,
    });
  });

  test("supported lists each chain for both versions", async () => {
    const scene = await paymentScene();
    const { kinds } = await (await facilitatorOf(scene)).getSupported();
    expect(kinds).toEqual([
      expect.objectContaining({ x402Version: 2, scheme: "exact", network: CHAIN as Network }),
      expect.objectContaining({ x402Version: 1, scheme: "exact", network: "base-sepolia" }),
    ]);
  });
});
