import { beforeAll, describe, expect, test } from "vitest";
import { simulateMandate as simulateOperation } from "#lib/mandates/contract.ts";
import { simulateMandate } from "#lib/mandates/lifecycle/simulate-mandate.ts";
import { useDatabase } from "#test/database.ts";
import { holdsOf } from "#test/asking.ts";
import { CHAIN } from "#test/mandates.ts";
import { authorized, paymentScene, type PaymentScene } from "#test/payments.ts";
import { randomAddress } from "#test/sellers.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

let scene: PaymentScene;
beforeAll(async () => {
  scene = await paymentScene();
});

/** The offer in the 402 of the registered seller, in x402 version 2. */
const offer = () => ({
  scheme: "exact",
  network: CHAIN,
  amount: "250000",
  asset: USDC,
  payTo: scene.seller.payTo,
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" },
});

const challengeOf = (...accepts: readonly Record<string, unknown>[]) => ({
  x402Version: 2,
  resource: { url: `https://${scene.seller.domain}/report` },
  accepts,
});

const decisionOf = async (challenge: Record<string, unknown>) => (await authorized(scene, { challenge })).policyDecision;

const strange = randomAddress();

describe("the challenge of a registered seller with a fixed price", () => {
  test("that matches the registration is allowed, with its offer at any position and any spelling of addresses", async () => {
    expect((await decisionOf(challengeOf(offer()))).outcome).toBe("allow");
    const upper = { ...offer(), payTo: `0x${scene.seller.payTo.slice(2).toUpperCase()}`, asset: USDC.toLowerCase() };
    const elsewhere = { ...offer(), network: "eip155:8453", payTo: randomAddress() };
    expect((await decisionOf(challengeOf(elsewhere, { ...offer(), scheme: "upto" }, upper))).outcome).toBe("allow");
  });

  test.each<[string, Record<string, unknown>, string, () => string]>([
    ["amount", { amount: "300000" }, "0.30 USDC", () => "0.25 USDC"],
    ["payTo", { payTo: strange }, strange, () => scene.seller.payTo],
    ["asset", { asset: strange }, strange, () => USDC.toLowerCase()],
    ["chain", { network: "eip155:8453" }, "eip155:8453", () => CHAIN],
    ["tokenName", { extra: { name: "USD Coin", version: "2" } }, "USD Coin", () => "USDC"],
    ["maxTimeoutSeconds", { maxTimeoutSeconds: 60.5 }, "60.5", () => "a whole number of seconds"],
    ["scheme", { scheme: "upto" }, "upto by eip3009", () => "exact by eip3009"],
  ])(
    "with another %s is denied at once: the reason names the field, the seller's value and the registered one",
    async (...row) => {
      const [field, change, theirs, registered] = row;
      const before = await holdsOf(scene.mandateId);
      const decision = await decisionOf(challengeOf({ ...offer(), ...change }));
      expect(decision).toMatchObject({ outcome: "deny", denialCode: "challenge_mismatch" });
      const reasons = decision.reasons.filter(({ effect }) => effect === "deny");
      expect(reasons).toHaveLength(1);
      expect(reasons[0]).toMatchObject({
        message: `The seller's challenge asks for the ${field} ${theirs}. Registered is ${registered()}.`,
      });
      expect(reasons[0]?.pointer).toMatch(/^\/intent\/challenge\/accepts/);
      expect(await holdsOf(scene.mandateId)).toHaveLength(before.length);
    },
  );

  test("of version 1 is compared as well", async () => {
    const { amount, network: _, ...rest } = offer();
    const old = { ...rest, network: "base-sepolia", maxAmountRequired: amount, resource: "https://shop.example.com/report" };
    const version1 = (change: Record<string, unknown>) => decisionOf({ x402Version: 1, accepts: [{ ...old, ...change }] });
    expect((await version1({})).outcome).toBe("allow");
    for (const change of [{ maxAmountRequired: "1" }, { payTo: strange }, { network: "base" }, { network: "constructor" }])
      expect((await version1(change)).denialCode).toBe("challenge_mismatch");
  });

  test("whose offers cannot be read is denied, and none of its text is shown", async () => {
    const odd: readonly unknown[] = [[], [{}], ["x"], {}, [{ ...offer(), amount: "1e3" }], [{ ...offer(), payTo: 7 }]];
    for (const accepts of odd) expect((await decisionOf({ accepts })).denialCode).toBe("challenge_mismatch");
    const [reason] = (await decisionOf(challengeOf({ ...offer(), network: "eip155:1\u202eOK\nApproved" }))).reasons;
    expect(reason?.message).toBe("The seller's challenge asks for the chain eip155:1?OK?Approved. Registered is eip155:84532.");
  });

  test("is compared by a simulation too", async () => {
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const { sellerId, resourceId, price } = scene.seller;
    const intent = {
      intentId: "s-1",
      nonce: "s-1",
      seller: { sellerId },
      resource: { resourceId },
      amount: price,
      asset: "USDC",
      expiresAt,
      challenge: challengeOf({ ...offer(), payTo: strange }),
    };
    const { data } = await send(simulateOperation, simulateMandate, {
      as: scene.agent.credential,
      id: scene.mandateId,
      body: { intent },
    });
    expect(data).toMatchObject({ decision: { outcome: "deny", denialCode: "challenge_mismatch" } });
  });
});
