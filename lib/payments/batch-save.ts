import postgres, { type Row } from "postgres";
import { allHeads, append, auditChainOf, chainTo, lockHeads, type PendingEvent } from "#lib/audit/store.ts";
import type { Sql } from "#lib/db/sql.ts";
import { insertCheckouts } from "#lib/approvals/batch-store.ts";
import { useWaivers } from "#lib/approvals/waiver-store.ts";
import type { ChainedEvent } from "#lib/audit/chain.ts";
import { idempotency } from "#lib/command/tables.ts";
import { given } from "#lib/db/bulk.ts";
import { columnsOf } from "#lib/db/rows.ts";
import { usageBuckets } from "#lib/mandates/tables.ts";
import { add, zero, type Atomic } from "#lib/money.ts";
import type { NewAuthorization, ItemRecord } from "#lib/payments/decide-batch.ts";
import { subjectOf, type Item } from "#lib/payments/queue-item.ts";
import { eventOf } from "#lib/payments/authorization-event.ts";
import { pipelined } from "#lib/payments/batch-load.ts";
import { storeIntent, type StoredIntent } from "#lib/holds/stored-intent.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { toWire } from "#lib/time.ts";

type HeldAuthorization = NewAuthorization & { readonly hold: NonNullable<NewAuthorization["hold"]> };
type ChainedAuthorization = NewAuthorization & { readonly event: ChainedEvent; readonly stored: StoredIntent };

/**
 * The idempotency slot of the authorization. If the payment belongs to an approval or order, the caller's own slot stores the
 * reply of that operation, so the authorization gets a separate slot.
 */
const slotOf = ({ item, authorizationId }: NewAuthorization): string => (item.purchase ? `also ${authorizationId}` : item.slot);

const authorizationColumns = columnsOf<ChainedAuthorization, typeof authorizations>(
  authorizations,
  {
    authorizationId: (row) => row.authorizationId,
    organizationId: (row) => row.item.organizationId,
    environment: (row) => row.item.environment,
    mandateId: (row) => row.item.mandateId,
    policyVersion: (row) => row.policyVersion,
    subjectId: (row) => subjectOf(row.item),
    intentId: (row) => row.item.intent.intentId,
    nonce: (row) => row.item.intent.nonce,
    outcome: (row) => row.decision.outcome,
    denialCode: (row) => row.decision.denialCode ?? null,
    intent: (row) => row.stored.own,
    termsId: (row) => row.stored.termsId,
    slot: slotOf,
    fingerprint: (row) => row.item.fingerprint,
    findings: (row) => JSON.stringify(row.decision.findings),
    amount: (row) => row.amount,
    buyerShare: (row) => row.fee.buyerShare,
    sellerShare: (row) => row.fee.sellerShare,
    asset: (row) => row.intent.asset,
    chain: (row) => row.intent.chain,
    payTo: (row) => row.payTo,
    sellerId: (row) => row.seller?.sellerId ?? null,
    sellerOrganizationId: (row) => row.seller?.organizationId ?? null,
    resourceId: (row) => row.resource?.resourceId ?? null,
    settlementMode: (row) => row.intent.settlementMode,
    facilitatorUrl: (row) => row.resource?.paymentConfig.facilitatorUrl ?? null,
    maxTimeoutSeconds: (row) => row.maxTimeoutSeconds,
    feeScheduleId: (row) => row.feeScheduleId,
    held: (row) => row.hold !== null,
    buckets: ({ hold }) => hold && JSON.stringify(hold.buckets.map(({ windowKey, start }) => [windowKey, start.getTime()])),
    checkoutIntentId: (row) => row.checkoutIntentId,
    actorId: (row) => (row.event.actorId === row.event.subjectId ? null : row.event.actorId),
    requestId: (row) => row.item.requestId,
    sequence: (row) => row.event.sequence,
    hash: (row) => row.event.hash,
    node: (row) => row.event.node,
    expiresAt: (row) => row.expiresAt,
    createdAt: (row) => row.createdAt,
  },
  ["intent", "findings", "buckets"],
);

/**
 * Whether the row of the hold (reserved amount) is stored at once, because a person's answer or an order will look for the row.
 */
const isStored = ({ hold, item }: NewAuthorization): boolean =>
  hold !== null && (hold.approvalKey !== null || item.purchase !== undefined);

/** The columns of an authorization, and two columns about its reserved amount (hold). */
const decidedColumns = given<ChainedAuthorization>("decided", [
  ...authorizationColumns,
  ["approval_key", "id", ({ hold }) => hold?.approvalKey ?? null],
  ["stored", "boolean", (row) => String(isStored(row))],
]);

const authorizationNames = authorizationColumns.map(([name]) => name).join(", ");

type BucketChange = {
  readonly mandateId: string;
  readonly windowKey: string;
  readonly start: Date;
  readonly liveUntil: Date;
  readonly ceiling: Atomic | null;
  amount: Atomic;
  payments: number;
};

const bucketColumns = given(
  "bucket",
  columnsOf<BucketChange, typeof usageBuckets>(usageBuckets, {
    mandateId: (row) => row.mandateId,
    windowKey: (row) => row.windowKey,
    start: (row) => row.start,
    liveUntil: (row) => row.liveUntil,
    ceiling: (row) => row.ceiling,
    reserved: (row) => row.amount,
    payments: (row) => row.payments,
  }),
  decidedColumns.last,
);

type Sum = readonly [mandateId: string, amount: Atomic];
const sumColumns = given<Sum>(
  "sum",
  [
    ["mandate_id", "id", ([mandateId]) => mandateId],
    ["amount", "numeric", ([, amount]) => String(amount)],
  ],
  bucketColumns.last,
);

const termsColumns = given<StoredIntent>(
  "terms",
  [
    ["terms_id", "id", ({ termsId }) => termsId],
    ["terms", "json text", ({ terms }) => terms],
  ],
  sumColumns.last,
);

/** Writes all authorizations with their reserved amounts in one statement, because each statement costs more than its rows. */
const AUTHORIZE = `
  WITH decided AS MATERIALIZED (SELECT * FROM ${decidedColumns.source}),
    authorized AS (INSERT INTO authorizations (${authorizationNames}) SELECT ${authorizationNames} FROM decided),
    summed AS MATERIALIZED (SELECT * FROM ${sumColumns.source}),
    reserved AS (
      INSERT INTO changed_reservations (authorization_id, organization_id, mandate_id, status, amount, approval_key, buckets, expires_at, created_at)
      SELECT authorization_id, organization_id, mandate_id, 'held', amount + buyer_share, approval_key, buckets::json, expires_at, created_at
      FROM decided WHERE stored),
    termed AS (
      INSERT INTO payment_terms (${termsColumns.names}) SELECT * FROM ${termsColumns.source} ORDER BY terms_id ON CONFLICT DO NOTHING),
    counted AS (
      INSERT INTO usage_buckets (${bucketColumns.names}) SELECT * FROM ${bucketColumns.source}
      ORDER BY mandate_id, window_key, start ON CONFLICT (mandate_id, window_key, start) DO UPDATE
      SET reserved = usage_buckets.reserved + excluded.reserved, payments = usage_buckets.payments + excluded.payments)
  UPDATE mandates SET last_held_at = $${termsColumns.last + 1}::timestamptz,
    reserved = reserved + (SELECT amount FROM summed WHERE summed.mandate_id = mandates.mandate_id)
  WHERE mandate_id = ANY($${termsColumns.last + 2}::text[])`;

function authorize(c: Sql, rows: readonly ChainedAuthorization[], newTerms: readonly StoredIntent[]) {
  const held = rows.filter((row): row is ChainedAuthorization & HeldAuthorization => row.hold !== null);
  const byMandate = new Map<string, Atomic>();
  for (const { item, hold } of held) byMandate.set(item.mandateId, add(byMandate.get(item.mandateId) ?? zero, hold.amount));
  // Sort by slot, or two processes with the same idempotency keys can deadlock.
  const lists = decidedColumns.values(bySlot(rows));
  const sums = [...bucketColumns.values(addedOf(held)), ...sumColumns.values([...byMandate]), ...termsColumns.values(newTerms)];
  return c.unsafe(AUTHORIZE, [...lists, ...sums, toWire(rows[0]!.createdAt), [...byMandate.keys()]], { prepare: true });
}

/**
 * The amount and the number of payments that the batch adds to each bucket. A bucket has the sums of one part of a window's
 * time.
 */
function addedOf(held: readonly HeldAuthorization[]): BucketChange[] {
  const added = new Map<string, BucketChange>();
  for (const { item, hold } of held) {
    for (const { windowKey, start, liveUntil, ceiling } of hold.buckets) {
      const key = `${item.mandateId} ${windowKey} ${start.getTime()}`;
      const sum = added.get(key);
      if (sum) {
        sum.amount = add(sum.amount, hold.amount);
        sum.payments += 1;
      } else
        added.set(key, { mandateId: item.mandateId, windowKey, start, liveUntil, ceiling, amount: hold.amount, payments: 1 });
    }
  }
  return [...added.values()];
}

/**
 * Whether another process stored a reply for the same idempotency key first, under another mandate than the locked one. A retry
 * finds the stored reply.
 */
export const lostSlot = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && ["authorizations_slot", "idempotency_pkey"].includes(error.constraint_name ?? "");

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

/**
 * The ids of the payment terms that are known to be stored. There is a list for each connection, because a new connection can
 * reach a database that was restored from an older state.
 */
const storedTerms = new WeakMap<object, Set<string>>();
const STORED_MAX = 10_000;

function storedOn(connection: object): Set<string> {
  const stored = storedTerms.get(connection) ?? new Set();
  if (stored.size > STORED_MAX) stored.clear();
  storedTerms.set(connection, stored);
  return stored;
}

const nothing: Promise<readonly Row[]> = Promise.resolve([]);

const bySlot = <T extends { readonly item: Item }>(list: readonly T[]): T[] =>
  list.toSorted((a, b) => (a.item.slot < b.item.slot ? -1 : 1));

const chainsOf = (rows: readonly NewAuthorization[], records: readonly ItemRecord[]): string[] => [
  ...new Set([...rows.map(({ item }) => item.organizationId), ...records.flatMap(({ events }) => events.map(auditChainOf))]),
];

const REPLY = `
  WITH replied AS (INSERT INTO idempotency (${replyColumns.names}) SELECT * FROM ${replyColumns.source} RETURNING slot)
  SELECT chain, sequence, peaks FROM audit_heads
  WHERE chain = ANY($${replyColumns.last + 1}::text[]) AND (SELECT count(*) FROM replied) >= 0 ORDER BY chain FOR NO KEY UPDATE`;

/**
 * Stores the replies, then locks the heads (newest entries) of the audit chains. The second part of the statement reads the
 * count of stored replies, which makes PostgreSQL run it second.
 */
const replyAndLockHeads = (c: Sql, kept: readonly ItemRecord[], chains: readonly string[]) =>
  c.unsafe(REPLY, [...replyColumns.values(bySlot(kept)), chains as string[]], { prepare: true });

/**
 * Round trip 2. Sends the rows of approvals and orders, and locks the heads of the audit chains. Then it sends the authorizations
 * with their holds, the other audit events, and COMMIT, which PostgreSQL turns into a ROLLBACK if an earlier statement failed.
 * Only batches write the slots of authorizations, and each slot belongs to one chain, so writing the slots after locking the
 * heads cannot deadlock.
 */
export async function saveBatch(
  c: Sql,
  connection: object,
  { rows, records }: BatchWrites,
  onCommit: () => void,
): Promise<number> {
  const checkouts = rows.flatMap((row) => row.checkout ?? []);
  const kept = records.filter((record) => record.item.purchase?.hasKey);
  const chains = chainsOf(rows, records);
  const uses = rows.flatMap(({ waiverId, authorizationId }) => (waiverId === null ? [] : [{ waiverId, authorizationId }]));
  const more = pipelined([
    uses.length > 0 ? useWaivers(c, uses) : nothing,
    checkouts.length > 0 ? insertCheckouts(c, checkouts) : nothing,
    ...records.flatMap((record) => record.write(c)),
  ]);
  const heads = kept.length > 0 ? replyAndLockHeads(c, kept, chains) : lockHeads(c, chains);
  const written = pipelined([more, heads]);
  // The failure is handled where `written` is awaited. Until then, this handler avoids an unhandled rejection.
  written.catch(() => {});
  // The order of events: first the event of each authorization, then the events of approvals and orders, each in batch order.
  const events: PendingEvent[] = [...rows.map(eventOf), ...records.flatMap((record) => record.events)];
  const chained = chainTo(await allHeads(c, chains, await heads), events);
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
    written,
    authorized.length > 0 ? authorize(c, authorized, [...newTerms.values()]) : nothing,
    append(c, chained.events.slice(rows.length), chained.heads),
    c`COMMIT`,
  ]);
  for (const termsId of newTerms.keys()) known.add(termsId);
  return events.length;
}
