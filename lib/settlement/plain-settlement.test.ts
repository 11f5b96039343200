import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eq, sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { settlementDays } from "#lib/onchain/tables.ts";
import { forget } from "#lib/process.ts";
import * as contract from "#lib/settlement/contract.ts";
import { listSettlements } from "#lib/settlement/list-settlements.ts";
import { reconcilePlain } from "#lib/settlement/reconcile-plain.ts";
import { inPlace } from "#lib/execute/settle-waits.ts";
import { resolvePlainSettlement } from "#lib/settlement/store.ts";
import { plainSettlements } from "#lib/settlement/tables.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { expectedOf, newWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";
import { listenService, type ListeningServer } from "#test/shop.ts";
import { createAgent, send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement({ facilitatorTimeoutMs: 2_000 });

let service: ListeningServer;
beforeAll(async () => {
  service = await listenService();
});
afterAll(() => service.close());

function configure(change: Record<string, unknown>): void {
  const [configured] = JSON.parse(process.env["CHAINS"] ?? "[]") as object[];
  process.env["CHAINS"] = JSON.stringify([{ ...configured, ...change }]);
  forget("env", `chains/client ${CHAIN}`, "settlement/facilitator", "chains/block-time");
}
afterEach(() => configure({ confirmations: 0, settledAt: "confirmations" }));

type Reply = {
  readonly success?: boolean;
  readonly isValid?: boolean;
  readonly errorReason?: string;
  readonly invalidReason?: string;
  readonly transaction?: string;
};

/** Signs a payment of a buyer without a mandate. `ask` and `list` call the service with a key of the seller's organization. */
async function plainPayment() {
  const scene = await paymentScene();
  const wallet = newWallet();
  await chain().mint(wallet.address, 1_000_000n);
  const { credential } = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
  const header = await signed(wallet, expectedOf(scene));
  const paymentPayload = JSON.parse(Buffer.from(header, "base64").toString()) as {
    accepted: object;
    payload: { authorization: { nonce: `0x${string}` } };
  };
  const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted });
  const ask = async (endpoint: "verify" | "settle"): Promise<Reply> => {
    const headers = { "content-type": "application/json", ...credential };
    return (await (await fetch(`${service.url}/api/x402/${endpoint}`, { method: "POST", headers, body })).json()) as Reply;
  };
  const { nonce } = paymentPayload.payload.authorization;
  const list = async () =>
    (await send(contract.listSettlements, listSettlements, { as: credential, query: `?nonce=${nonce}` })).data.items;
  const { sellerOrganizationId } = scene;
  return { ask, list, nonce, sellerOrganizationId, balance: () => chain().balanceOf(scene.seller.payTo) };
}

const used = "invalid_exact_evm_nonce_already_used";

async function withoutMining(): Promise<void> {
  await chain().client.setAutomine(false);
}
async function mine(): Promise<void> {
  await chain().client.mine({ blocks: 1 });
  await chain().client.setAutomine(true);
}

describe("a payment without a mandate", () => {
  test("that takes longer than the call is reported as settled once to its seller: the repeated call reads the chain at once", async () => {
    const { ask, balance } = await plainPayment();
    await withoutMining();
    const first = await ask("settle");
    expect(first).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect(first.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await ask("verify")).toMatchObject({ isValid: true });
    await mine();
    expect(await ask("settle")).toMatchObject({ success: true, transaction: first.transaction });
    expect(await ask("settle")).toMatchObject({ success: false, errorReason: used });
    expect(await ask("verify")).toMatchObject({ isValid: false, invalidReason: used });
    expect(await balance()).toBe(250_000n);
  });

  test("that the reconciler settled is reported as settled once too", async () => {
    const { ask } = await plainPayment();
    await withoutMining();
    expect(await ask("settle")).toMatchObject({ errorReason: "settlement_pending" });
    await mine();
    await database()
      .update(plainSettlements)
      .set({ createdAt: new Date(0) });
    await reconcilePlain();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask("settle")));
    expect(answers.filter(({ success }) => success)).toHaveLength(1);
    expect(answers.filter(({ errorReason }) => errorReason === used)).toHaveLength(7);
  });

  test("is reconciled although more older settlements wait than one check reads", async () => {
    const { ask, list, nonce } = await plainPayment();
    await withoutMining();
    await ask("settle");
    await mine();
    await database().execute(sql`UPDATE plain_settlements SET created_at = created_at - interval '1 minute'`);
    const waiting = { settlement_id: "", nonce: "", created_at: new Date(0).toISOString() };
    await database().execute(sql`INSERT INTO plain_settlements
      SELECT (jsonb_populate_record(s, ${JSON.stringify(waiting)}::jsonb
        || jsonb_build_object('settlement_id', 'stl_waiting' || n, 'nonce', '0x' || lpad(to_hex(n), 64, '0')))).*
      FROM plain_settlements s, generate_series(1, 64) n WHERE s.nonce = ${nonce}`);
    onTestFinished(async () => {
      await database().execute(sql`DELETE FROM plain_settlements WHERE settlement_id LIKE 'stl_waiting%'`);
    });
    await reconcilePlain();
    await reconcilePlain();
    expect(await list()).toMatchObject([{ status: "settled" }]);
  });

  test("is not reported as settled later than ten minutes after its expiry, and stays listed", async () => {
    const { ask, list, nonce } = await plainPayment();
    await withoutMining();
    const { transaction } = await ask("settle");
    await mine();
    await database()
      .update(plainSettlements)
      .set({ createdAt: new Date(0) });
    await reconcilePlain();
    const endedAgo = (minutes: number) =>
      database()
        .update(plainSettlements)
        .set({ validBefore: sql`statement_timestamp() - ${minutes} * interval '1 minute'` })
        .where(eq(plainSettlements.nonce, nonce));
    await endedAgo(9);
    expect(await ask("verify")).toMatchObject({ isValid: true });
    await endedAgo(11);
    expect(await ask("verify")).toMatchObject({ isValid: false, invalidReason: used });
    expect(await ask("settle")).toMatchObject({ success: false, errorReason: used });
    expect(await list()).toMatchObject([{ status: "settled", handedOver: false, transaction }]);
  });

  test("keeps the known transaction if another check finds no transaction", async () => {
    const { ask, list } = await plainPayment();
    await withoutMining();
    const { transaction } = await ask("settle");
    const [item] = await list();
    const unknown = { status: "processing", transaction: null, errorReason: null } as const;
    await database().transaction((tx) => resolvePlainSettlement(tx, item!.settlementId, unknown));
    expect(await list()).toMatchObject([{ status: "processing", transaction }]);
    await mine();
    expect(await ask("settle")).toMatchObject({ success: true, transaction });
  });

  test("is waited for by a limited number of one seller's requests; the next request is answered at once", async () => {
    const { ask, sellerOrganizationId } = await plainPayment();
    const neighbour = await plainPayment();
    await withoutMining();
    const [{ transaction }] = await Promise.all([ask("settle"), neighbour.ask("settle")]);
    const { promise, resolve } = Promise.withResolvers<null>();
    const waits = Array.from({ length: 64 }, () => inPlace(sellerOrganizationId, () => promise));
    expect(await inPlace(sellerOrganizationId, () => promise)).toBeNull();
    const timed = async (settle: typeof ask) => {
      const start = performance.now();
      const reply = await settle("settle");
      return { ...reply, waited: performance.now() - start };
    };
    const [atOnce, waiting] = await Promise.all([timed(ask), timed(neighbour.ask)]);
    expect(atOnce).toMatchObject({ success: false, errorReason: "settlement_pending", transaction });
    expect(waiting.waited).toBeGreaterThan(2_000);
    expect(atOnce.waited).toBeLessThan(waiting.waited);
    resolve(null);
    await Promise.all(waits);
    await mine();
    expect(await ask("settle")).toMatchObject({ success: true, transaction });
  });

  test("does not wait if the process has no room for more waiting requests, except for a seller that has none", async () => {
    const { promise, resolve } = Promise.withResolvers<null>();
    const waits = Array.from({ length: 8 }, (_, seller) =>
      Array.from({ length: 56 }, () => inPlace(`org_${seller}`, () => promise)),
    ).flat();
    expect(await inPlace("org_0", () => promise)).toBeNull();
    expect(await inPlace("org_new", () => Promise.resolve(1))).toEqual({ value: 1 });
    resolve(null);
    expect(await Promise.all(waits)).toHaveLength(448);
    expect(await inPlace("org_0", () => Promise.resolve(1))).toEqual({ value: 1 });
  });

  test("is reported as settled to one of many parallel requests, and paid once", async () => {
    const { ask, balance } = await plainPayment();
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask("settle")));
    expect(answers.filter(({ success }) => success)).toHaveLength(1);
    expect(await balance()).toBe(250_000n);
  });

  test("that the day's limit refuses can be settled on the next day", async () => {
    const { ask, list } = await plainPayment();
    process.env["SETTLEMENT_DAILY_CAP"] = "0";
    forget("env");
    expect(await ask("settle")).toMatchObject({ success: false, errorReason: "invalid_transaction_state" });
    delete process.env["SETTLEMENT_DAILY_CAP"];
    forget("env");
    expect(await list()).toEqual([]);
    expect(await ask("settle")).toMatchObject({ success: true });
  });

  test("whose answer was lost is found by its owner by the nonce of the signed payment", async () => {
    const { ask, list, nonce } = await plainPayment();
    const { transaction } = await ask("settle");
    expect(await list()).toMatchObject([{ status: "settled", transaction, nonce, amount: "0.25", handedOver: true }]);
    const stranger = await plainPayment();
    expect(await stranger.list()).toEqual([]);
  });

  test("waits as long as the chain needs for its confirmations", async () => {
    await chain().client.setAutomine(false);
    await chain().client.setIntervalMining({ interval: 1 });
    await expect.poll(() => chain().client.getBlockNumber()).toBeGreaterThan(0n); // The service measures a block time of 1 s.
    await chain().client.mine({ blocks: 8, interval: 1 });
    configure({ confirmations: 4 });
    process.env["FACILITATOR_TIMEOUT_MS"] = "20000";
    forget("env");
    try {
      const { ask } = await plainPayment();
      expect(await ask("settle")).toMatchObject({ success: true });
    } finally {
      process.env["FACILITATOR_TIMEOUT_MS"] = "2000";
      forget("env");
      await chain().client.setIntervalMining({ interval: 0 });
      await chain().client.setAutomine(true);
    }
  });

  test("whose block has too few confirmations is pending for a later request too, and then settled", async () => {
    configure({ confirmations: 3 });
    const { ask, nonce } = await plainPayment();
    const { transaction } = await ask("settle");
    const leaseEnded = { workedUntil: sql`statement_timestamp()` as unknown as Date };
    await database().update(plainSettlements).set(leaseEnded).where(eq(plainSettlements.nonce, nonce));
    expect(await ask("settle")).toMatchObject({ success: false, errorReason: "settlement_pending", transaction });
    await chain().client.mine({ blocks: 3 });
    expect(await ask("settle")).toMatchObject({ success: true, transaction });
  });

  test.each([
    ["that eight later requests would send again", "0 s"],
    ["whose lease is longer than any, because the clock ran ahead,", "2 hours"],
  ])("%s is sent and counted once more, and not eight times", async (_, until) => {
    const { ask, nonce, sellerOrganizationId } = await plainPayment();
    await withoutMining();
    const { transaction } = await ask("settle");
    const leaseEnded = { workedUntil: sql`statement_timestamp() + ${until}::interval` as unknown as Date };
    await database().update(plainSettlements).set(leaseEnded).where(eq(plainSettlements.nonce, nonce));
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask("settle")));
    expect(answers).toEqual(
      answers.map(() => expect.objectContaining({ errorReason: "settlement_pending", transaction }) as Reply),
    );
    const days = await database().select().from(settlementDays).where(eq(settlementDays.organizationId, sellerOrganizationId));
    expect(days).toMatchObject([{ settlements: 2 }]);
    await mine();
  });

  test("that was sent stays pending when the day's limit is used up, because its transaction can still be mined", async () => {
    const { ask, nonce } = await plainPayment();
    await withoutMining();
    const { transaction } = await ask("settle");
    const leaseEnded = { workedUntil: sql`statement_timestamp()` as unknown as Date };
    await database().update(plainSettlements).set(leaseEnded).where(eq(plainSettlements.nonce, nonce));
    process.env["SETTLEMENT_DAILY_CAP"] = "0";
    forget("env");
    const capped = await ask("settle");
    delete process.env["SETTLEMENT_DAILY_CAP"];
    forget("env");
    expect(capped).toMatchObject({ success: false, errorReason: "settlement_pending", transaction });
    await mine();
    expect(await ask("settle")).toMatchObject({ success: true, transaction });
  });

  test("is reported as settled at its receipt if the chain is configured so, and checked until it has its confirmations", async () => {
    configure({ confirmations: 3, settledAt: "receipt" });
    const supported = (await (await fetch(`${service.url}/api/x402/supported`)).json()) as { kinds: { extra: object }[] };
    const alike = { minimumAmount: "0.001", assetTransferMethods: ["eip3009"] };
    expect(supported.kinds[0]?.extra).toEqual({ settledAt: "receipt", confirmations: 3, ...alike });
    const { ask, list } = await plainPayment();
    const { success, transaction } = await ask("settle");
    expect(success).toBe(true);
    expect(await list()).toMatchObject([{ status: "processing", handedOver: true, transaction }]);
    expect(await ask("settle")).toMatchObject({ errorReason: used });
    expect(await ask("verify")).toMatchObject({ isValid: false });
    await chain().client.mine({ blocks: 3 });
    await database()
      .update(plainSettlements)
      .set({ createdAt: sql`created_at - interval '1 minute'` });
    await reconcilePlain();
    expect(await list()).toMatchObject([{ status: "settled", handedOver: true, transaction }]);
  });
});
