import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eq, sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { relay } from "#lib/onchain/relay/relay-worker.ts";
import { relayedTransactions } from "#lib/onchain/tables.ts";
import { executions } from "#lib/holds/tables.ts";
import { forget } from "#lib/process.ts";
import { followTransactions } from "#lib/settlement/follow-transactions.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { settlementTransactions } from "#lib/settlement/tables.ts";
import { useDatabase } from "#test/database.ts";
import { FaultyNode, type NodeFault } from "#test/faulty-node.ts";
import { brokenSums } from "#test/invariants.ts";
import { CHAIN } from "#test/mandates.ts";
import { past } from "#test/past.ts";
import { authorized, execute, expectedOf, newWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";
import { useContracts } from "#test/registered.ts";
import { register, registrable, signedBody } from "#test/registrations.ts";
import { fundSenders, registrationsOf } from "#test/relays.ts";
import { listenService, type ListeningServer } from "#test/shop.ts";
import { createAgent } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement({ facilitatorTimeoutMs: 4_000 });
useContracts(chain);

const kinds: readonly NodeFault[] = ["refuse", "hang", "nonsense"];
const PATIENCE_MS = 40_000;

let node: FaultyNode;
let service: ListeningServer;
let scene: Awaited<ReturnType<typeof paymentScene>>;
let weSettle: Awaited<ReturnType<typeof paymentScene>>;
let server: Readonly<Record<string, string>>;
const wallet = newWallet();
const unheard: unknown[] = [];
const hear = (error: unknown) => unheard.push(error);
beforeAll(async () => {
  await fundSenders(chain());
  await chain().mint(wallet.address, 1_000_000_000n);
  node = await FaultyNode.before(chain().rpcUrl);
  process.env["CHAINS"] = (process.env["CHAINS"] ?? "").replace(chain().rpcUrl, node.rpcUrl);
  forget("env", `chains/client ${CHAIN}`, "settlement/facilitator");
  service = await listenService();
  const policy = { assets: [{ asset: "USDC", chain: CHAIN }], limits: { perPayment: "1", total: "1000" } };
  scene = await paymentScene({ price: "0.01", mandate: { policy } });
  weSettle = await paymentScene({ settlementMode: "facilitatorSettled", price: "0.01", mandate: { policy } });
  server = (await createAgent(scene.sellerOrganizationId, ["payments:settle"])).credential;
  process.on("unhandledRejection", hear);
});
afterAll(async () => {
  process.removeListener("unhandledRejection", hear);
  await service.close();
  node.close();
});
beforeEach(async () => {
  node.mend();
  await database().execute(sql`DELETE FROM rate_limit`);
});

type Answer = { readonly success?: boolean; readonly isValid?: boolean };

async function plain() {
  const payload = JSON.parse(Buffer.from(await signed(wallet, expectedOf(scene)), "base64").toString()) as { accepted: object };
  const body = JSON.stringify({ x402Version: 2, paymentPayload: payload, paymentRequirements: payload.accepted });
  return async (endpoint: "verify" | "settle"): Promise<Answer> => {
    const headers = { "content-type": "application/json", ...server };
    return (await fetch(`${service.url}/api/x402/${endpoint}`, { method: "POST", headers, body })).json() as Promise<Answer>;
  };
}

const received = ({ seller }: typeof scene) => chain().balanceOf(seller.payTo);

/** Counts the calls to the node that an operation makes without faults. */
async function callsOf(work: () => Promise<unknown>): Promise<number> {
  node.mend();
  await work();
  return node.calls;
}

/**
 * Runs `run` once for each call to the node and each kind of fault. In each run, that call fails. Each run must end within a time
 * limit and without unhandled rejections.
 */
async function withEveryCallFailed(calls: number, run: (fault: () => void) => Promise<void>): Promise<void> {
  for (const kind of kinds) {
    for (let call = 1; call <= calls; call += 1) {
      const began = performance.now();
      await run(() => node.failAt(call, kind));
      expect(performance.now() - began, `call ${call} of ${calls}: ${kind}`).toBeLessThan(PATIENCE_MS);
    }
  }
  expect(unheard).toEqual([]);
}

/** Ends the faults, makes the sent transactions due, and checks them once. */
async function follow(): Promise<void> {
  node.mend();
  await database().update(settlementTransactions).set({ nextCheckAt: past }).where(eq(settlementTransactions.status, "sent"));
  await followTransactions();
}

describe("a node whose n-th call fails, for every n", () => {
  test("verify: the next try answers valid", async () => {
    const calls = await callsOf(async () => expect(await (await plain())("verify")).toMatchObject({ isValid: true }));
    await withEveryCallFailed(calls, async (fault) => {
      const ask = await plain();
      fault();
      await ask("verify");
      node.mend();
      expect(await ask("verify")).toMatchObject({ isValid: true });
    });
  });

  test("settle: makes one transfer and answers success once, at the latest at the second try", async () => {
    const calls = await callsOf(async () => expect(await (await plain())("settle")).toMatchObject({ success: true }));
    await withEveryCallFailed(calls, async (fault) => {
      const before = await received(scene);
      const ask = await plain();
      fault();
      const first = await ask("settle");
      await follow();
      if (first.success !== true) expect(await ask("settle")).toMatchObject({ success: true });
      expect(await ask("settle")).toMatchObject({ success: false });
      expect((await received(scene)) - before).toBe(10_000n);
    });
  });

  test("execute: makes one transfer, and at the latest the reconciler settles the payment", async () => {
    const pay = async () => {
      const { authorizationId } = await authorized(weSettle);
      const paymentCredential = await signed(wallet, expectedOf(weSettle));
      return { authorizationId, idempotencyKey: crypto.randomUUID(), paymentCredential };
    };
    const calls = await callsOf(async () => expect((await execute(weSettle, await pay())).data.settlementStatus).toBe("settled"));
    await withEveryCallFailed(calls, async (fault) => {
      const before = await received(weSettle);
      const request = await pay();
      fault();
      const first = await execute(weSettle, request);
      await follow();
      // A refused request stored nothing, because the service asks the chain before it stores the execution. So a retry with the
      // same idempotency key pays.
      if (first.status !== 200) await execute(weSettle, request);
      await database()
        .update(executions)
        .set({ nextCheckAt: past })
        .where(sql`authorization_id = ${request.authorizationId} AND resolved_at IS NULL`);
      await reconcile();
      const [row] = await database().select().from(executions).where(eq(executions.authorizationId, request.authorizationId));
      expect(row?.settlementStatus).toBe("settled");
      expect((await received(weSettle)) - before).toBe(10_000n);
    });
    expect(await brokenSums()).toEqual([]);
  });

  test("register: makes one registration, at the latest at the second try", async () => {
    const one = async () => {
      node.mend();
      const asked = await registrable();
      return { asked, body: await signedBody(asked) };
    };
    const made = await one();
    const calls = await callsOf(async () => expect((await register(made.asked.mandateId, made.body)).status).toBe(200));
    await withEveryCallFailed(calls, async (fault) => {
      await database().execute(sql`DELETE FROM rate_limit`);
      const { asked, body } = await one();
      fault();
      const first = await register(asked.mandateId, body);
      node.mend();
      await database()
        .update(relayedTransactions)
        .set({ nextCheckAt: past })
        .where(sql`status IN ('queued', 'sent')`);
      await relay();
      if (first.status !== 200) expect((await register(asked.mandateId, body)).status).toBe(200);
      expect(await registrationsOf(asked.mandateId)).toHaveLength(1);
    });
  });
});

describe("a node that never answers", () => {
  test("callers get an answer with what is known, and the payment settles when the node answers again", async () => {
    for (const hang of [() => node.hangFrom(1), () => node.hangAfter("eth_sendRawTransaction")]) {
      const before = await received(scene);
      const ask = await plain();
      const began = performance.now();
      hang();
      expect(await ask("settle")).toMatchObject({ success: false });
      expect(performance.now() - began).toBeLessThan(60_000);
      await follow();
      expect(await ask("settle")).toMatchObject({ success: true });
      expect((await received(scene)) - before).toBe(10_000n);
    }
    expect(unheard).toEqual([]);
  });
});
