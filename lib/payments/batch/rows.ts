import type { ChainedEvent } from "#lib/audit/chain.ts";
import { given, givenRows } from "#lib/db/bulk.ts";
import { columnsOf } from "#lib/db/rows.ts";
import type { Sql } from "#lib/db/sql.ts";
import type { StoredIntent } from "#lib/holds/stored-intent.ts";
import { authorizations, changedReservations, paymentTerms } from "#lib/holds/tables.ts";
import { usageBuckets } from "#lib/mandates/tables.ts";
import { add, zero, type Atomic } from "#lib/money.ts";
import type { NewAuthorization } from "#lib/payments/batch/decide.ts";
import { payingSubjectOf, type Item } from "#lib/payments/queue-item.ts";
import type { Hold } from "#lib/payments/batch/take-hold.ts";
import { toWire } from "#lib/time.ts";

export type ChainedAuthorization = NewAuthorization & { readonly event: ChainedEvent; readonly stored: StoredIntent };
type HeldAuthorization = ChainedAuthorization & { readonly hold: Hold };

/** The caller's slot belongs to the approval, continuation or order, so its authorization gets a separate slot. */
const slotOf = ({ item, authorizationId }: NewAuthorization): string => (item.purchase ? `also ${authorizationId}` : item.slot);

const bucketsOf = ({ buckets }: Hold) => buckets.map(({ windowKey, start }) => [windowKey, start.getTime()] as const);

const rowColumns = givenRows(
  "decided",
  columnsOf<ChainedAuthorization, typeof authorizations>(
    authorizations,
    {
      authorizationId: (row) => row.authorizationId,
      organizationId: (row) => row.item.organizationId,
      environment: (row) => row.item.environment,
      mandateId: (row) => row.item.mandateId,
      policyVersion: (row) => row.policyVersion,
      subjectId: (row) => payingSubjectOf(row.item),
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
      unitAmount: (row) => row.counted?.amount ?? null,
      unitRate: (row) => row.counted?.rate ?? null,
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
      buckets: ({ hold }) => hold && JSON.stringify(bucketsOf(hold)),
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
  ),
);

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
  rowColumns.last,
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

const LAST = sumColumns.last + 2;

const storedColumns = given(
  "stored",
  columnsOf<HeldAuthorization, typeof changedReservations>(changedReservations, {
    authorizationId: (row) => row.authorizationId,
    organizationId: (row) => row.item.organizationId,
    mandateId: (row) => row.item.mandateId,
    status: ({ hold }) => (hold.isKept ? "submitted" : "held"),
    amount: ({ hold }) => hold.amount,
    approvalKey: ({ hold }) => hold.approvalKey,
    buckets: ({ hold }) => bucketsOf(hold),
    expiresAt: (row) => row.expiresAt,
    createdAt: (row) => row.createdAt,
    captured: ({ hold }) => (hold.isKept ? zero : null),
    released: ({ hold }) => (hold.isKept ? zero : null),
    refunded: ({ hold }) => (hold.isKept ? zero : null),
  }),
  LAST,
);

const termsColumns = given(
  "terms",
  columnsOf<StoredIntent, typeof paymentTerms>(paymentTerms, { termsId: (row) => row.termsId, terms: (row) => row.terms }, [
    "terms",
  ]),
  storedColumns.last,
);

/** One statement for all authorizations and reserved amounts, because each statement has a fixed cost. */
const AUTHORIZE = `
  WITH authorized AS (INSERT INTO authorizations (${rowColumns.names}) SELECT ${rowColumns.names} FROM ${rowColumns.source}),
    summed AS MATERIALIZED (SELECT * FROM ${sumColumns.source}),
    counted AS (
      INSERT INTO usage_buckets (${bucketColumns.names}) SELECT * FROM ${bucketColumns.source}
      ORDER BY mandate_id, window_key, start ON CONFLICT (mandate_id, window_key, start) DO UPDATE
      SET reserved = usage_buckets.reserved + excluded.reserved, payments = usage_buckets.payments + excluded.payments)
  UPDATE mandates SET last_held_at = $${LAST - 1}::timestamptz,
    reserved = reserved + (SELECT amount FROM summed WHERE summed.mandate_id = mandates.mandate_id)
  WHERE mandate_id = ANY($${LAST}::text[])`;

/** A separate statement, because each part of a statement takes time, even without rows. */
const AUTHORIZE_AND_STORE = AUTHORIZE.replace(
  "WITH",
  `WITH reserved AS (INSERT INTO changed_reservations (${storedColumns.names}) SELECT * FROM ${storedColumns.source}),
    termed AS (
      INSERT INTO payment_terms (${termsColumns.names}) SELECT * FROM ${termsColumns.source} ORDER BY terms_id ON CONFLICT DO NOTHING),`,
);

export const bySlot = <T extends { readonly item: Item }>(list: readonly T[]): T[] =>
  list.toSorted((a, b) => (a.item.slot < b.item.slot ? -1 : 1));

export function authorize(c: Sql, rows: readonly ChainedAuthorization[], newTerms: readonly StoredIntent[]) {
  const held = rows.filter((row): row is HeldAuthorization => row.hold !== null);
  // Approvals and continuations read such holds from changed_reservations.
  const stored = held.filter(({ hold, item }) => hold.approvalKey !== null || hold.isKept || item.purchase !== undefined);
  const byMandate = new Map<string, Atomic>();
  for (const { item, hold } of held) byMandate.set(item.mandateId, add(byMandate.get(item.mandateId) ?? zero, hold.amount));
  const values = [
    // Sorted, so that batches write slots in one order.
    ...rowColumns.values(bySlot(rows)),
    ...bucketColumns.values(addedOf(held)),
    ...sumColumns.values([...byMandate]),
    toWire(rows[0]!.createdAt),
    [...byMandate.keys()],
  ];
  if (stored.length === 0 && newTerms.length === 0) return c.unsafe(AUTHORIZE, values, { prepare: true });
  const more = [...storedColumns.values(stored), ...termsColumns.values(newTerms)];
  return c.unsafe(AUTHORIZE_AND_STORE, [...values, ...more], { prepare: true });
}

/** Sums the holds by bucket, which is a calendar period or a part of a rolling window. */
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
