import { eq } from "drizzle-orm";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { executePayment } from "#lib/execute/execute-payment.ts";
import { payToProofs } from "#lib/sellers/tables.ts";
import { answerSettle } from "#lib/execute/answer-settle.ts";
import { answerVerify } from "#lib/execute/answer-verify.ts";
import { readAsked } from "#lib/execute/settlement-request.ts";
import { plainSettlements } from "#lib/settlement/tables.ts";
import { lower } from "#lib/evm.ts";
import { useDatabase } from "#test/database.ts";
import { authorized, execute, expectedOf, newWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";
import { newSeller } from "#test/sellers.ts";
import { createAgent, createOrganization, createPerson } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
const wallet = newWallet();

const variables = () => env() as { ENVIRONMENT: "sandbox" | "production" };
beforeAll(() => chain().mint(wallet.address, 1_000_000_000n));
afterAll(() => {
  variables().ENVIRONMENT = "sandbox";
});

/** Runs `work` with the settlement rules of production, but with the API keys and the database of the sandbox. */
async function inProduction<T>(work: () => Promise<T>): Promise<T> {
  variables().ENVIRONMENT = "production";
  try {
    return await work();
  } finally {
    variables().ENVIRONMENT = "sandbox";
  }
}

async function keyOf(organizationId: string) {
  const { credential } = await createAgent(organizationId, ["payments:settle"]);
  const caller = await authenticate(new Request("http://localhost:3000/", { headers: credential }));
  if (caller?.kind !== "key") throw new Error("A key authenticates as one.");
  return caller;
}

type Key = Awaited<ReturnType<typeof keyOf>>;
type Payload = { readonly accepted: object };

/** The facilitator's answers to a seller's server: whether the payment is valid, and whether it was settled. */
async function asked(seller: Key, credential: string) {
  const payload = JSON.parse(Buffer.from(credential, "base64").toString()) as Payload;
  const read = await readAsked(
    { x402Version: 2, paymentPayload: payload, paymentRequirements: payload.accepted },
    seller.organizationId,
  );
  if (!read.ok) return { valid: false, settled: false, detail: read.detail };
  const { isValid } = await answerVerify(read);
  return { valid: isValid, settled: (await answerSettle(read, seller)).success, detail: "" };
}

const scene = async (mode: "offchainAuthorized" | "facilitatorSettled" = "offchainAuthorized", payTo?: Address) => {
  const made = await paymentScene({ settlementMode: mode, ...(payTo && { payTo }) });
  return { ...made, key: await keyOf(made.sellerOrganizationId), payTo: made.seller.payTo };
};

const proof = (made: Awaited<ReturnType<typeof scene>>, change: Partial<typeof payToProofs.$inferInsert> = {}) =>
  database()
    .insert(payToProofs)
    .values({
      organizationId: made.sellerOrganizationId,
      address: made.payTo.toLowerCase(),
      chain: "",
      method: "signature",
      sellerId: made.seller.sellerId,
      provenBy: made.owner.userId,
      ...change,
    });

describe("in production this service's facilitator", () => {
  test("settles nothing for another organization that registered the owner's address, and settles for the owner who proved it", async () => {
    const owner = await scene();
    await proof(owner);
    const strangers = await createOrganization("Stranger");
    const person = await createPerson(strangers);
    await newSeller(person.credential, { price: "0.25", payTo: owner.payTo });
    const stranger = await keyOf(strangers);
    const credential = await signed(wallet, expectedOf(owner));
    const told = await inProduction(() => asked(stranger, credential));
    expect(told).toMatchObject({ valid: false, settled: false });
    expect(told.detail).toContain("has not proven that it controls");
    expect(await chain().balanceOf(owner.payTo)).toBe(0n);
    expect(await inProduction(() => asked(owner.key, credential))).toMatchObject({ valid: true, settled: true });
    expect(await chain().balanceOf(owner.payTo)).toBe(250_000n);
  });

  test("accepts a contract's proof only on its chain", async () => {
    const owner = await scene();
    await proof(owner, { chain: "eip155:1" });
    const credential = await signed(wallet, expectedOf(owner));
    expect(await inProduction(() => asked(owner.key, credential))).toMatchObject({ settled: false });
    await proof(owner, { chain: "eip155:84532" });
    expect(await inProduction(() => asked(owner.key, credential))).toMatchObject({ settled: true });
  });

  test("does not settle a buyer's payment to an address that nobody proved", async () => {
    const made = await scene("facilitatorSettled");
    const { authorizationId } = await authorized(made);
    const paymentCredential = await signed(wallet, expectedOf(made));
    const { credential } = made.agent;
    const caller = await authenticate(new Request("http://localhost:3000/", { headers: credential }));
    const body = { authorizationId, paymentCredential, idempotencyKey: "k" };
    const idempotency = { slot: "k", fingerprint: "f", key: "k" };
    const request = new Request("http://localhost:3000/");
    const told = (await inProduction(() =>
      executePayment({ body }, { caller: caller as never, idempotency, requestId: "req_1", request }),
    )) as unknown as { readonly status: number; readonly body: string };
    expect([told.status, (JSON.parse(told.body) as { code: string }).code]).toEqual([402, "recipient_mismatch"]);
    expect(told.body).toContain("has not proven that it controls");
    expect(await chain().balanceOf(made.payTo)).toBe(0n);
  });
});

describe("in a sandbox this service's facilitator", () => {
  test("settles nothing for an organization that registered an address that another one has proved", async () => {
    const owner = await scene();
    await proof(owner);
    const stranger = await scene("offchainAuthorized", owner.payTo);
    const credential = await signed(wallet, expectedOf(owner));
    const told = await asked(stranger.key, credential);
    expect(told).toMatchObject({ valid: false, settled: false });
    expect(told.detail).toContain("Another organization has proved");
    expect(await asked(owner.key, credential)).toMatchObject({ valid: true, settled: true });
  });

  test.each(["offchainAuthorized", "facilitatorSettled"] as const)(
    "binds no payment to a stranger's mandate if another organization has proved its address: %s",
    async (mode) => {
      const owner = await scene();
      await proof(owner);
      const stranger = await scene(mode, owner.payTo);
      const paymentCredential = await signed(wallet, expectedOf(owner));
      const { authorizationId } = await authorized(stranger);
      const told = await execute(stranger, { authorizationId, paymentCredential });
      expect([told.status, told.problem.code]).toEqual([402, "recipient_mismatch"]);
      expect(told.problem.detail).toContain("Another organization has proved");
      expect(await asked(owner.key, paymentCredential)).toMatchObject({ valid: true, settled: true });
    },
  );

  test("tells the owner of an unproven address that a payment under a stranger's mandate has arrived", async () => {
    const owner = await scene();
    const stranger = await scene("facilitatorSettled", owner.payTo);
    const paymentCredential = await signed(wallet, expectedOf(owner));
    const { authorizationId } = await authorized(stranger);
    const executed = await execute(stranger, { authorizationId, paymentCredential });
    expect(executed.data.settlementStatus).toBe("settled");
    const told = await asked(owner.key, paymentCredential);
    expect(told).toMatchObject({ valid: false, settled: false });
    expect(told.detail).toContain(`has arrived at ${owner.payTo.toLowerCase()} with the transaction 0x`);
  });

  test("tells the owner of an unproven address that the payment has arrived, if a stranger has settled it first", async () => {
    const owner = await scene();
    const stranger = await scene("offchainAuthorized", owner.payTo);
    const credential = await signed(wallet, expectedOf(owner));
    expect(await asked(stranger.key, credential)).toMatchObject({ settled: true });
    const [settlement] = await database()
      .select()
      .from(plainSettlements)
      .where(eq(plainSettlements.payTo, lower(owner.payTo)));
    const told = await asked(owner.key, credential);
    expect(told).toMatchObject({ valid: false, settled: false });
    expect(told.detail).toContain(`has arrived at ${owner.payTo.toLowerCase()} with the transaction ${settlement?.transaction}`);
    expect(told.detail).toContain("Prove the address with challengePayTo");
  });

  test("settles only for the organization's own resources, proved or not", async () => {
    const made = await scene();
    const other = await keyOf(await createOrganization("Other"));
    const credential = await signed(wallet, expectedOf(made));
    expect(await asked(other, credential)).toMatchObject({ settled: false });
    expect(await asked(made.key, credential)).toMatchObject({ settled: true });
    await database().delete(payToProofs).where(eq(payToProofs.sellerId, made.seller.sellerId));
  });
});
