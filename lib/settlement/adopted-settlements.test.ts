import { eq, sql } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { mandateLedger, mandates } from "#lib/mandates/tables.ts";
import { executions, reservations } from "#lib/holds/tables.ts";
import { readReceived } from "#lib/settlement/list-settlements.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { reconcilePlain } from "#lib/settlement/reconcile-plain.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { useDatabase } from "#test/database.ts";
import { expireNow, ofAuthorization } from "#test/holds.ts";
import { brokenSums } from "#test/invariants.ts";
import { past } from "#test/past.ts";
import { authorized, execute, expectedOf, newWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";
import { listenService, type ListeningServer } from "#test/shop.ts";
import { createAgent } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();

let service: ListeningServer;
beforeAll(async () => {
  service = await listenService();
});
beforeEach(async () => void (await database().execute(sql`DELETE FROM rate_limit`)));
afterEach(async () => expect(await brokenSums()).toEqual([]));
afterAll(() => service.close());

async function payment(settlementMode: "offchainAuthorized" | "facilitatorSettled" = "offchainAuthorized", mandate = {}) {
  const scene = await paymentScene({ settlementMode, mandate });
  const wallet = newWallet();
  await chain().mint(wallet.address, 1_000_000n);
  const { authorizationId } = await authorized(scene);
  const paymentCredential = await signed(wallet, expectedOf(scene));
  const account = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
  const payload = JSON.parse(Buffer.from(paymentCredential, "base64").toString()) as { accepted: object };
  const body = JSON.stringify({ x402Version: 2, paymentPayload: payload, paymentRequirements: payload.accepted });
  const settle = async (): Promise<boolean> => {
    const headers = { "content-type": "application/json", ...account.credential };
    const reply = await fetch(`${service.url}/api/x402/settle`, { method: "POST", headers, body });
    return ((await reply.json()) as { success: boolean }).success;
  };
  const pay = () => execute(scene, { authorizationId, paymentCredential });
  return {
    scene,
    authorizationId,
    paymentCredential,
    settle,
    pay,
    balance: () => chain().balanceOf(scene.seller.payTo),
  };
}

/** Makes the open executions due for a check, and runs the reconcilers once. */
async function follow(): Promise<void> {
  await database()
    .update(executions)
    .set({ nextCheckAt: past })
    .where(sql`resolved_at IS NULL`);
  await reconcile();
  await reconcilePlain();
}

async function bookedOf(authorizationId: string) {
  const [hold] = await database().select().from(reservations).where(eq(reservations.authorizationId, authorizationId));
  const ledger = await database().select().from(mandateLedger).where(eq(mandateLedger.authorizationId, authorizationId));
  const paid = ledger.map(({ kind }) => kind).filter((kind) => kind === "capture" || kind === "overrun");
  return { hold: hold?.status, paid };
}

describe("a payment that its seller settled before it was executed", () => {
  test.each(["offchainAuthorized", "facilitatorSettled"] as const)("is charged to its mandate (%s)", async (mode) => {
    const { scene, authorizationId, settle, pay, balance } = await payment(mode);
    expect(await settle()).toBe(true);
    const { status } = await pay();
    expect(status).toBe(200);
    await follow();
    expect(await bookedOf(authorizationId)).toEqual({ hold: "captured", paid: ["capture"] });
    expect(await balance()).toBe(250_000n);
    expect(await settle()).toBe(false);
    const { items } = await readReceived({ organizationId: scene.sellerOrganizationId, environment: "sandbox" }, { limit: 20 });
    expect(items.map(({ status: seen }) => seen)).toEqual(["settled"]);
  });

  test("is charged as an overrun if its authorization has expired or its mandate was revoked", async () => {
    const expired = await payment();
    expect(await expired.settle()).toBe(true);
    await expireNow(ofAuthorization(expired.authorizationId));
    await sweepHolds();
    expect((await expired.pay()).status).toBe(200);
    await follow();
    expect(await bookedOf(expired.authorizationId)).toEqual({ hold: "captured", paid: ["overrun"] });
    const revoked = await payment();
    expect(await revoked.settle()).toBe(true);
    await database().update(mandates).set({ status: "revoked" }).where(eq(mandates.mandateId, revoked.scene.mandateId));
    expect((await revoked.pay()).status).toBe(200);
    await follow();
    expect((await bookedOf(revoked.authorizationId)).hold).toBe("captured");
  });

  test("as an overrun, limits nothing that the mandate leaves without a limit", async () => {
    const budgets = [{ period: "year" as const, timezone: "UTC", amount: "10" }];
    const counts = [{ period: "day" as const, timezone: "UTC", max: 10 }];
    const assets = [{ asset: "USDC", chain: "eip155:84532" }];
    const policy = { assets, limits: { perPayment: "1", budgets, counts } };
    const { scene, authorizationId, settle, pay } = await payment("offchainAuthorized", { policy });
    expect(await settle()).toBe(true);
    await expireNow(ofAuthorization(authorizationId));
    await sweepHolds();
    expect((await pay()).status).toBe(200);
    await follow();
    expect((await bookedOf(authorizationId)).paid).toEqual(["overrun"]);
    expect((await authorized(scene)).policyDecision.outcome).toBe("allow");
  });

  test("is charged once: it does not pay another authorization for the same payment", async () => {
    const { scene, settle, pay, paymentCredential } = await payment();
    expect(await settle()).toBe(true);
    expect((await pay()).status).toBe(200);
    const second = await authorized(scene);
    const { problem } = await execute(scene, { authorizationId: second.authorizationId, paymentCredential });
    expect(problem.code).toBe("nonce_already_used");
  });

  test("20 executions and 80 settlements at once end with one transfer, one capture and no open hold", async () => {
    for (const mode of ["offchainAuthorized", "facilitatorSettled"] as const) {
      const { authorizationId, settle, pay, balance } = await payment(mode);
      const settling = Array.from({ length: 80 }, () => settle());
      const paying = Array.from({ length: 20 }, () => pay());
      const [said, executed] = await Promise.all([Promise.all(settling), Promise.all(paying)]);
      await follow();
      expect(said.filter(Boolean).length).toBeLessThanOrEqual(1);
      expect(executed.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(await balance()).toBe(250_000n);
      expect(await bookedOf(authorizationId)).toEqual({ hold: "captured", paid: ["capture"] });
    }
  });
});
