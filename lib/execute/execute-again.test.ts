import { sql } from "drizzle-orm";
import postgres from "postgres";
import { afterEach, expect, test } from "vitest";
import { transactAgain } from "#lib/audit/transact.ts";
import { mainPool, type Tx } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";
import { hold, type HeldLocks } from "#test/holding.ts";
import { brokenSums } from "#test/invariants.ts";
import { eventsOf } from "#test/mandates.ts";
import { authorized, execute, expectedOf, fundedWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";

const databaseOf = useDatabase();
const chain = useSettlement();
afterEach(async () => expect(await brokenSums()).toEqual([]));

/** Ends the service's database connections while one of them waits for the lock. */
async function terminateBehind(lock: HeldLocks): Promise<void> {
  await lock.blocks();
  await lock.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'countersign'`;
  await lock.release();
}

test("an execution whose connection ends while it begins, and while it finishes, settles once and answers 200", async () => {
  const scene = await paymentScene({ settlementMode: "facilitatorSettled" });
  const wallet = await fundedWallet(chain());
  const { authorizationId } = await authorized(scene);
  const { url } = databaseOf();
  const begins = await hold(url, `SELECT FROM mandates WHERE mandate_id = '${scene.mandateId}' FOR UPDATE`);
  // Lock a table that only the end of an execution writes, so that the connection can be ended there too.
  const finishes = await hold(url, "LOCK TABLE mandate_sellers IN EXCLUSIVE MODE");
  const asked = execute(scene, { authorizationId, paymentCredential: await signed(wallet, expectedOf(scene)) });
  await terminateBehind(begins);
  await terminateBehind(finishes);
  const { status, data } = await asked;
  expect([status, data.settlementStatus]).toEqual([200, "settled"]);
  expect((await eventsOf(data.executionId)).map(({ type }) => type)).toEqual(["payment.submitted", "payment.settled"]);
  expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n);
});

test("work is not repeated after its own failure or after a COMMIT without an answer, and never more than once", async () => {
  const direct = postgres(databaseOf().url, { max: 1 });
  const endAll = () => direct`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'countersign'`;
  let runs = 0;
  const runsOf = async (work: (tx: Tx) => Promise<unknown>): Promise<number> => {
    runs = 0;
    const counted = (tx: Tx) => {
      runs += 1;
      return work(tx);
    };
    await expect(transactAgain(counted)).rejects.toThrow();
    return runs;
  };
  expect(await runsOf(() => Promise.reject(new Error("refused")))).toBe(1);
  expect(await runsOf(() => Promise.reject(Object.assign(new Error("lost"), { code: "OUTCOME_UNKNOWN" })))).toBe(1);
  const ended = async (tx: Tx) => {
    await endAll();
    await tx.execute(sql`SELECT 1`);
  };
  expect(await runsOf(ended)).toBe(2);
  await direct.end();
  expect(await mainPool().sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
});
