import { allHeads, append, auditChainOf, chainTo, lockHeads, type PendingEvent } from "#lib/audit/store.ts";
import { driver, type Sql } from "#lib/db/sql.ts";
import { insertCheckouts, saveDecided, saveGrant, saveRedeemed, saveRefused } from "#lib/approvals/decision/batch-store.ts";
import { useWaivers } from "#lib/approvals/decision/waiver-store.ts";
import { idempotency } from "#lib/command/tables.ts";
import { given } from "#lib/db/bulk.ts";
import { insertCardParts } from "#lib/holds/card-store.ts";
import { insertRecorded } from "#lib/holds/record-store.ts";
import { sqlState } from "#lib/db/failure.ts";
import { columnsOf } from "#lib/db/rows.ts";
import type { NewAuthorization, ItemRecord } from "#lib/payments/batch/decide.ts";
import { eventOf } from "#lib/payments/batch/authorization-event.ts";
import { nothing, pipelined } from "#lib/payments/batch/load.ts";
import { authorize, bySlot, type ChainedAuthorization } from "#lib/payments/batch/rows.ts";
import { storeIntent } from "#lib/holds/stored-intent.ts";
import { toWire } from "#lib/time.ts";

/** Whether another process first stored a reply for the idempotency key, or took the reference, under another mandate. A retry finds it. */
export const lostSlot = (error: unknown): boolean =>
  error instanceof driver().PostgresError &&
  ["authorizations_slot", "idempotency_pkey", "recorded_payments_reference"].includes(error.constraint_name ?? "");

/** Whether a statement of recordWrites divided by zero: another call has taken the order that the payment is for. */
export const lostOrder = (error: unknown): boolean => sqlState(error) === "22012";

const replyColumns = given(
  "reply",
  columnsOf<ItemRecord, typeof idempotency>(
    idempotency,
    {
      slot: ({ item }) => item.slot,
      fingerprint: ({ item }) => item.fingerprint,
      status: ({ status }) => status,
      body: ({ body }) => body,
    },
    ["body"],
  ),
);

type BatchWrites = { readonly rows: readonly NewAuthorization[]; readonly records: readonly ItemRecord[] };

/** The stored terms by connection, because a new connection can reach a database that was restored from an older state. */
const storedTerms = new WeakMap<object, Set<string>>();
const STORED_MAX = 10_000;

function storedOn(connection: object): Set<string> {
  const stored = storedTerms.get(connection) ?? new Set();
  if (stored.size > STORED_MAX) stored.clear();
  storedTerms.set(connection, stored);
  return stored;
}

const chainsOf = (rows: readonly NewAuthorization[], records: readonly ItemRecord[]): string[] => [
  ...new Set([...rows.map(({ item }) => item.organizationId), ...records.flatMap(({ events }) => events.map(auditChainOf))]),
];

const REPLY = `
  WITH replied AS (INSERT INTO idempotency (${replyColumns.names}) SELECT * FROM ${replyColumns.source} RETURNING slot)
  SELECT chain, sequence, peaks FROM audit_heads
  WHERE chain = ANY($${replyColumns.last + 1}::text[]) AND (SELECT count(*) FROM replied) >= 0 ORDER BY chain FOR NO KEY UPDATE`;

/** The second part of REPLY reads the count of stored replies, which makes PostgreSQL lock the heads second. */
const replyAndLockHeads = (c: Sql, kept: readonly ItemRecord[], chains: readonly string[]) =>
  c.unsafe(REPLY, [...replyColumns.values(bySlot(kept)), chains as string[]], { prepare: true });

const recordWrites = (c: Sql, { grant, decided, redeemed, refused }: ItemRecord): readonly PromiseLike<unknown>[] => [
  ...(grant ? saveGrant(c, grant) : []),
  ...(decided ? [saveDecided(c, decided)] : []),
  ...(redeemed ? saveRedeemed(c, redeemed) : []),
  ...(refused ? [saveRefused(c, refused)] : []),
];

/**
 * COMMIT becomes a ROLLBACK if an earlier statement failed. Only batches write the slots of authorizations, and each slot belongs
 * to one audit chain, so writing the slots after locking the heads cannot deadlock.
 */
export async function saveBatch(
  c: Sql,
  connection: object,
  { rows, records }: BatchWrites,
  onCommit: () => void,
): Promise<number> {
  const checkouts = rows.flatMap((row) => row.checkout ?? []);
  const kept = records.filter((record) => record.item.purchase?.kind === "approval" && record.item.purchase.hasKey);
  const chains = chainsOf(rows, records);
  const uses = rows.flatMap(({ waiverId, authorizationId }) => (waiverId === null ? [] : [{ waiverId, authorizationId }]));
  const recorded = rows.flatMap((row) => row.recorded ?? []);
  const parts = rows.flatMap((row) => row.cardPart ?? []);
  const more = pipelined([
    uses.length > 0 ? useWaivers(c, uses) : nothing,
    checkouts.length > 0 ? insertCheckouts(c, checkouts) : nothing,
    ...insertRecorded(c, recorded),
    parts.length > 0 ? insertCardParts(c, parts) : nothing,
    ...records.flatMap((record) => recordWrites(c, record)),
  ]);
  const heads = kept.length > 0 ? replyAndLockHeads(c, kept, chains) : lockHeads(c, chains);
  const [, locked] = await pipelined([more, heads]);
  // The events of authorizations come first, because `chained.events` is read by this position below.
  const events: PendingEvent[] = [...rows.map(eventOf), ...records.flatMap((record) => record.events)];
  const chained = chainTo(await allHeads(c, chains, locked), events);
  const authorized = rows.map((row, at): ChainedAuthorization => ({
    ...row,
    event: chained.events[at]!,
    stored: storeIntent(row.intent, { authorizationId: row.authorizationId, expiresAt: toWire(row.expiresAt) }),
  }));
  const known = storedOn(connection);
  const newTerms = new Map(
    authorized.filter(({ stored }) => !known.has(stored.termsId)).map(({ stored }) => [stored.termsId, stored]),
  );
  onCommit();
  await pipelined([
    authorized.length > 0 ? authorize(c, authorized, [...newTerms.values()]) : nothing,
    append(c, chained.events.slice(rows.length), chained.heads),
    c`COMMIT`,
  ]);
  for (const termsId of newTerms.keys()) known.add(termsId);
  return events.length;
}
