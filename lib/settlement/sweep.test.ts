import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { GATE } from "#lib/command/gate-store.ts";
import { database, pool } from "#lib/db/client.ts";
import { countOverdueHolds, heldRows, planSweep, sweptUntil } from "#lib/holds/sweep-store.ts";
import { holdSweeps, reservations } from "#lib/holds/tables.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { ask } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, assets, createBuyer } from "#test/mandates.ts";

const databaseOf = useDatabase();

const WAIT = { timeout: 20_000 };

/** Opens a transaction that does nothing until the returned function is called. */
async function openTransaction(): Promise<() => Promise<void>> {
  const began = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const transaction = database().transaction(async (tx) => {
    await tx.execute(sql`SELECT 1`);
    began.resolve();
    await end.promise;
  });
  await began.promise;
  return async () => {
    end.resolve();
    await transaction;
  };
}

test("a sweep releases a hold that never changed, and later sweeps do not read it again", async () => {
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential);
  const heldSince = async (since: Date): Promise<string[]> =>
    (await database().execute<{ authorization_id: string }>(heldRows(since, sql`mandate_id = ${mandateId}`))).map(
      (row) => row.authorization_id,
    );
  const soon = await ask(buyer, mandateId, { expiresAt: new Date(Date.now() + 2_000).toISOString() });
  const { authorizationId } = soon.data;
  expect(soon.data.policyDecision.outcome).toBe("allow");
  const statusOf = async () => {
    await sweepHolds();
    return (await database().select().from(reservations).where(eq(reservations.authorizationId, authorizationId)))[0]?.status;
  };
  await expect.poll(statusOf, WAIT).toBe("expired");
  expect(await brokenSums()).toEqual([]);

  await database()
    .update(holdSweeps)
    .set({ sweptUntil: new Date(0) });
  await sweepHolds();
  const until = await sweptUntil(database());
  expect(until > new Date(0)).toBe(true);
  const later = await ask(buyer, mandateId);
  expect(await heldSince(until)).toEqual([later.data.authorizationId]);
  expect(await heldSince(new Date("2100-01-01"))).toEqual([]);
});

let copies = 0;

/** A copy of a hold of the mandate, which expires at the SQL time `at`. */
async function copyHold(mandateId: string, id: string, at: string): Promise<void> {
  copies += 1;
  await pool().unsafe(`
    INSERT INTO authorizations SELECT (jsonb_populate_record(a, jsonb_build_object('authorization_id', '${id}', 'intent_id', '${id}',
      'sequence', ${5_000 + copies}, 'nonce', '${id}', 'slot', '${id}', 'expires_at', ${at}))).*
    FROM authorizations a WHERE mandate_id = '${mandateId}' LIMIT 1`);
  await pool()`UPDATE mandates SET reserved = reserved + 500000, ceiling = greatest(ceiling, reserved + 500000) WHERE mandate_id = ${mandateId}`;
}

const statusesOf = async (mandateId: string) =>
  (await pool()`SELECT authorization_id, status FROM reservations WHERE mandate_id = ${mandateId} ORDER BY authorization_id`).map(
    (row) => row["status"],
  );

const sweptAt = (at: string) => pool().unsafe(`UPDATE hold_sweeps SET swept_until = ${at}`);

test("after the database's clock ran ahead, two sweeps release what expired before their stored time, and what revoked mandates hold", async () => {
  const buyer = await createBuyer();
  const policy = { assets, limits: { perPayment: "1", total: "1000" } };
  const [mandateId, revoked] = [
    await activeMandate(buyer.person.credential, { policy }),
    await activeMandate(buyer.person.credential, { policy }),
  ];
  await ask(buyer, mandateId);
  await ask(buyer, revoked);
  await sweepHolds();
  const overdue = await countOverdueHolds(database());
  await copyHold(mandateId, "aut_late1", "clock_timestamp() - interval '5 hours'");
  await copyHold(mandateId, "aut_late2", "clock_timestamp() - interval '2 minutes'");
  await pool()`UPDATE mandates SET status = 'revoked' WHERE mandate_id = ${revoked}`;
  await sweptAt("statement_timestamp() + interval '2 hours'");
  expect(await countOverdueHolds(database())).toBe(overdue + 2);
  await Promise.all([sweepHolds(), sweepHolds()]);
  expect(await statusesOf(mandateId)).toEqual(["held", "expired", "expired"]);
  expect(await statusesOf(revoked)).toEqual(["expired"]);
  expect(await countOverdueHolds(database())).toBe(overdue);
  const [row] = await pool()`SELECT swept_until < clock_timestamp() AS past FROM hold_sweeps`;
  expect(row?.["past"]).toBe(true);
});

test("a hold is released that was made after the clock was set back by so little that the stored time of the sweeps has passed", async () => {
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential);
  await ask(buyer, mandateId);
  await sweepHolds();
  await copyHold(mandateId, "aut_set_back", "clock_timestamp()");
  await sweptAt("statement_timestamp()");
  await sweepHolds();
  expect(await statusesOf(mandateId)).toEqual(["held", "expired"]);
});

test("a sweep leaves out the time since the start of an open transaction, which may store holds that have expired by then", async () => {
  const end = await openTransaction();
  const coveredNow = async () => (await planSweep(database(), 0)).covered;
  const covered = await coveredNow();
  await expect.poll(coveredNow, WAIT).toEqual(covered);
  await end();
  await expect.poll(async () => (await coveredNow()) > covered, WAIT).toBe(true);
});

test("a mandate that is locked after its first 1,000 holds were released is swept to its end", async () => {
  const buyer = await createBuyer();
  const policy = { assets, limits: { perPayment: "1", total: "1000" } };
  const mandateId = await activeMandate(buyer.person.credential, { policy });
  await ask(buyer, mandateId);
  await pool()`
    INSERT INTO authorizations SELECT (jsonb_populate_record(a, jsonb_build_object('authorization_id', id, 'sequence', 1000 + n,
      'intent_id', id, 'nonce', id, 'slot', id, 'expires_at', clock_timestamp() - interval '1 second'))).*
    FROM authorizations a, (SELECT n, 'aut_copy' || n AS id FROM generate_series(1, 1100) n) copies WHERE mandate_id = ${mandateId}`;
  await pool()`UPDATE mandates SET reserved = reserved * 1101, ceiling = greatest(ceiling, reserved * 1101) WHERE mandate_id = ${mandateId}`;
  await database()
    .update(holdSweeps)
    .set({ sweptUntil: new Date(0) });
  // The first batch waits for the audit log and has entered the gate. The gate is closed behind it, so that the second batch begins
  // when another transaction has locked the mandate.
  // All connections are open before, because the sweep waits only four seconds for a lock.
  const log = await hold(databaseOf().url, `SELECT FROM audit_heads WHERE chain = '${buyer.organizationId}' FOR UPDATE`);
  const gate = await hold(databaseOf().url, "SELECT 1");
  const mandate = await hold(databaseOf().url, "SELECT 1");
  const sweep = sweepHolds();
  await log.blocks();
  const closing = gate.take(`SELECT pg_advisory_xact_lock(${GATE})`);
  await expect.poll(async () => (await pool()`SELECT FROM pg_locks WHERE NOT granted`).length, WAIT).toBe(2);
  await log.release();
  await closing;
  await gate.blocks();
  await mandate.take(`SELECT FROM mandates WHERE mandate_id = '${mandateId}' FOR UPDATE`);
  await gate.release();
  await mandate.blocks();
  await mandate.release();
  expect(await sweep).toBe(1100);
  const held = await database().$count(reservations, sql`mandate_id = ${mandateId} AND status = 'held'`);
  const [row] = await pool()`SELECT reserved FROM mandates WHERE mandate_id = ${mandateId}`;
  expect([held, row?.["reserved"]]).toEqual([1, "500000"]);
});
