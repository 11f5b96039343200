import { eq, sql } from "drizzle-orm";
import postgres from "postgres";
import { afterEach, expect, test } from "vitest";
import { transactAgain } from "#lib/audit/transact.ts";
import { database, mainPool, pool, type Tx } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
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

test("a repeat gets the first call's answer also if that call commits after the repeat looked for it", async () => {
  const scene = await paymentScene();
  const { authorizationId } = await authorized(scene);
  const paymentCredential = await signed(await fundedWallet(chain()), expectedOf(scene));
  const ask = () => execute(scene, { authorizationId, idempotencyKey: "between", paymentCredential });
  const first = await ask();
  expect(first.status).toBe(200);
  // The first call's rows are out of sight until the repeat has looked for them and waits to read the reserved amount.
  const [row] = await database().select().from(executions).where(eq(executions.authorizationId, authorizationId));
  const slot = row?.slot ?? "";
  const move = async (c: { unsafe(text: string, values: string[]): PromiseLike<unknown> }, from: string, to: string) => {
    await c.unsafe("UPDATE executions SET slot = $2 WHERE slot = $1", [from, to]);
    await c.unsafe("UPDATE idempotency SET slot = $2 WHERE slot = $1", [from, to]);
  };
  await move(pool(), slot, "away");
  const between = await hold(databaseOf().url, "LOCK TABLE changed_reservations IN ACCESS EXCLUSIVE MODE");
  const repeated = ask();
  await between.blocks();
  await move(between.sql, "away", slot);
  await between.sql.unsafe("COMMIT");
  const { status, data, headers } = await repeated;
  expect([status, data, headers.get("idempotent-replayed")]).toEqual([200, first.data, "true"]);
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
