import type { ReservedSql, Row } from "postgres";
import { insertCheckouts } from "#lib/commerce/list-store.ts";
import { chainEvents, genesis, type AuditEvent, type ChainedEvent } from "#lib/audit/chain.ts";
import { bulkInsert } from "#lib/db/bulk.ts";
import { newId } from "#lib/ids.ts";
import { add, zero, type Atomic } from "#lib/money.ts";
import type { Decided, ItemExtra } from "#lib/payments/decide-list.ts";
import { subjectOf, type Item } from "#lib/payments/item.ts";
import { pipelined } from "#lib/payments/list-load.ts";

type Held = Decided & { readonly hold: NonNullable<Decided["hold"]> };

/** The slot of an item that brings more belongs to its whole reply; its authorization has one of its own. */
const slotOf = ({ item, authorizationId }: Decided): string => (item.also ? `also ${authorizationId}` : item.slot);

const insertAuthorizations = bulkInsert<Decided>(
  "authorizations",
  [
    ["authorization_id", "text", (row) => row.authorizationId],
    ["organization_id", "text", (row) => row.item.organizationId],
    ["environment", "text", (row) => row.item.environment],
    ["mandate_id", "text", (row) => row.item.mandateId],
    ["policy_version", "int", (row) => String(row.policyVersion)],
    ["subject_id", "text", (row) => subjectOf(row.item)],
    ["policy_decision_id", "text", (row) => row.policyDecisionId],
    ["intent_id", "text", (row) => row.item.intent.intentId],
    ["nonce", "text", (row) => row.item.intent.nonce],
    ["outcome", "text", (row) => row.decision.outcome],
    ["denial_code", "text", (row) => row.decision.denialCode ?? null],
    ["intent", "json", (row) => JSON.stringify(row.intent)],
    ["slot", "text", slotOf],
    ["fingerprint", "text", (row) => row.item.fingerprint],
    ["answer", "json text", (row) => row.body],
    ["amount", "numeric", (row) => String(row.amount)],
    ["buyer_share", "numeric", (row) => String(row.fee.buyerShare)],
    ["seller_share", "numeric", (row) => String(row.fee.sellerShare)],
    ["asset", "text", (row) => row.intent.asset],
    ["chain", "text", (row) => row.intent.chain],
    ["pay_to", "text", (row) => row.payTo],
    ["seller_id", "text", (row) => row.seller?.sellerId ?? null],
    ["seller_organization_id", "text", (row) => row.seller?.organizationId ?? null],
    ["resource_id", "text", (row) => row.resource?.resourceId ?? null],
    ["settlement_mode", "text", (row) => row.intent.settlementMode],
    ["facilitator_url", "text", (row) => row.resource?.paymentConfig.facilitatorUrl ?? null],
    ["max_timeout_seconds", "int", (row) => String(row.maxTimeoutSeconds)],
    ["fee_schedule_id", "text", (row) => row.feeScheduleId],
    ["reservation_id", "text", (row) => row.hold?.reservationId ?? null],
    ["expires_at", "timestamptz", (row) => row.expiresAt.toISOString()],
    ["created_at", "timestamptz", (row) => row.createdAt.toISOString()],
  ],
  "ON CONFLICT (slot) DO NOTHING RETURNING slot",
);

const insertReservations = bulkInsert<Held>("reservations", [
  ["reservation_id", "text", (row) => row.hold.reservationId],
  ["authorization_id", "text", (row) => row.authorizationId],
  ["organization_id", "text", (row) => row.item.organizationId],
  ["mandate_id", "text", (row) => row.item.mandateId],
  ["status", "text", () => "held"],
  ["amount", "numeric", (row) => String(row.hold.amount)],
  ["approval_key", "text", (row) => row.hold.approvalKey],
  ["buckets", "json", (row) => JSON.stringify(row.hold.buckets.map(({ windowKey, start }) => [windowKey, start.getTime()]))],
  ["expires_at", "timestamptz", (row) => row.expiresAt.toISOString()],
  ["created_at", "timestamptz", (row) => row.createdAt.toISOString()],
]);

const insertLedger = bulkInsert<Held>("mandate_ledger", [
  ["ledger_id", "text", () => newId("ledger")],
  ["organization_id", "text", (row) => row.item.organizationId],
  ["mandate_id", "text", (row) => row.item.mandateId],
  ["reservation_id", "text", (row) => row.hold.reservationId],
  ["authorization_id", "text", (row) => row.authorizationId],
  ["kind", "text", () => "hold"],
  ["amount", "numeric", (row) => String(row.hold.amount)],
  ["created_at", "timestamptz", (row) => row.createdAt.toISOString()],
]);

type Added = {
  readonly mandateId: string;
  readonly windowKey: string;
  readonly start: Date;
  readonly liveUntil: Date;
  readonly ceiling: string | null;
  amount: Atomic;
  payments: number;
};

const addToBuckets = bulkInsert<Added>(
  "usage_buckets",
  [
    ["mandate_id", "text", (row) => row.mandateId],
    ["window_key", "text", (row) => row.windowKey],
    ["start", "timestamptz", (row) => row.start.toISOString()],
    ["live_until", "timestamptz", (row) => row.liveUntil.toISOString()],
    ["ceiling", "numeric", (row) => row.ceiling],
    ["reserved", "numeric", (row) => String(row.amount)],
    ["payments", "int", (row) => String(row.payments)],
  ],
  `ORDER BY mandate_id, window_key, start ON CONFLICT (mandate_id, window_key, start) DO UPDATE
   SET reserved = usage_buckets.reserved + excluded.reserved, payments = usage_buckets.payments + excluded.payments`,
);

const insertAudit = bulkInsert<ChainedEvent>("audit_events", [
  ["chain", "text", (event) => event.chain],
  ["sequence", "bigint", (event) => String(event.sequence)],
  ["audit_event_id", "text", (event) => event.auditEventId],
  ["type", "text", (event) => event.type],
  ["actor_id", "text", (event) => event.actorId],
  ["organization_id", "text", (event) => event.organizationId],
  ["subject_id", "text", (event) => event.subjectId],
  ["entity_type", "text", (event) => event.entityType],
  ["entity_id", "text", (event) => event.entityId],
  ["metadata", "json", (event) => JSON.stringify(event.metadata)],
  ["hash", "text", (event) => event.hash],
  ["created_at", "timestamptz", (event) => event.createdAt.toISOString()],
]);

function addReserved(c: ReservedSql, held: readonly Held[]) {
  const sums = new Map<string, Atomic>();
  for (const { item, hold } of held) sums.set(item.mandateId, add(sums.get(item.mandateId) ?? zero, hold.amount));
  const mandateIds = [...sums.keys()];
  return c`
    UPDATE mandates SET last_held_at = ${held[0]!.createdAt.toISOString()}::timestamptz, reserved = reserved + (
      SELECT d.amount::numeric FROM unnest(${mandateIds}::text[], ${[...sums.values()].map(String)}::text[]) AS d(mandate_id, amount)
      WHERE d.mandate_id = mandates.mandate_id)
    WHERE mandate_id = ANY(${mandateIds}::text[])`;
}

/** What the list adds to each bucket, summed. */
function addedOf(held: readonly Held[]): Added[] {
  const sums = new Map<string, Added>();
  for (const { item, hold } of held) {
    for (const { windowKey, start, liveUntil, ceiling } of hold.buckets) {
      const key = `${item.mandateId} ${windowKey} ${start.getTime()}`;
      const sum = sums.get(key);
      if (sum) {
        sum.amount = add(sum.amount, hold.amount);
        sum.payments += 1;
      } else sums.set(key, { mandateId: item.mandateId, windowKey, start, liveUntil, ceiling, amount: hold.amount, payments: 1 });
    }
  }
  return [...sums.values()];
}

const auditType = { allow: "payment.authorized", deny: "payment.denied", requireApproval: "payment.approvalRequired" } as const;

const eventOf = ({ item, decision, ...row }: Decided): AuditEvent => ({
  auditEventId: newId("audit"),
  type: auditType[decision.outcome],
  actorId: item.asker.subjectId,
  organizationId: item.organizationId,
  subjectId: subjectOf(item),
  entityType: "authorization",
  entityId: row.authorizationId,
  metadata: {
    requestId: item.requestId,
    mandateId: item.mandateId,
    policyVersion: row.policyVersion,
    policyDecisionId: row.policyDecisionId,
    intentId: item.intent.intentId,
    amount: row.intent.amount,
    asset: row.intent.asset,
    chain: row.intent.chain,
    ...(row.seller && { sellerId: row.seller.sellerId }),
    ...(decision.denialCode !== undefined && { denialCode: decision.denialCode }),
    ...(row.hold && { reservationId: row.hold.reservationId }),
    ...(row.checkoutIntentId !== null && { checkoutIntentId: row.checkoutIntentId }),
  },
  createdAt: row.createdAt,
});

/** Another process stored this slot meanwhile, for another mandate: the next try finds it. */
export class SlotRace extends Error {}

const insertReplies = bulkInsert<ItemExtra>(
  "idempotency",
  [
    ["slot", "text", ({ item }) => item.slot],
    ["fingerprint", "text", ({ item }) => item.fingerprint],
    ["status", "int", ({ status }) => String(status)],
    ["body", "text", ({ body }) => body],
  ],
  "ON CONFLICT (slot) DO NOTHING RETURNING slot",
);

type Saved = { readonly rows: readonly Decided[]; readonly extras: readonly ItemExtra[]; readonly events: readonly AuditEvent[] };

const bySlot = <T extends { readonly item: Item }>(list: readonly T[]): T[] =>
  list.toSorted((a, b) => (a.item.slot < b.item.slot ? -1 : 1));

/** What happened, in the order of the list: an authorization has one event, what came with it its own. */
export const eventsOf = (rows: readonly Decided[], extras: readonly ItemExtra[]): AuditEvent[] => [
  ...rows.map(eventOf),
  ...extras.flatMap((extra) => extra.events),
];

/** Trip 2: every row of the list and the audit heads, the last lock. */
export async function saveRows(c: ReservedSql, { rows, extras, events }: Saved): Promise<readonly Row[]> {
  const held = rows.filter((row): row is Held => row.hold !== null);
  const added = addedOf(held);
  const checkouts = rows.flatMap((row) => row.checkout ?? []);
  const kept = extras.filter((extra) => extra.item.also?.keyed);
  const organizations = [...new Set(events.map((event) => event.organizationId ?? "platform"))];
  const nothing: Promise<readonly Row[]> = Promise.resolve([]);
  const opened = checkouts.length > 0 ? [insertCheckouts(c, checkouts)] : [];
  const [slots, , , , , replies, , , heads] = await pipelined([
    // In the order of their slots, so that two processes with the same keys wait for each other in one direction.
    rows.length > 0 ? insertAuthorizations(c, bySlot(rows)) : nothing,
    held.length > 0 ? insertReservations(c, held) : nothing,
    held.length > 0 ? insertLedger(c, held) : nothing,
    held.length > 0 ? addReserved(c, held) : nothing,
    added.length > 0 ? addToBuckets(c, added) : nothing,
    kept.length > 0 ? insertReplies(c, bySlot(kept)) : nothing,
    opened.length + extras.length > 0 ? pipelined([...opened, ...extras.flatMap((extra) => extra.write(c))]) : nothing,
    c`INSERT INTO audit_heads (chain, sequence, hash) SELECT o, 0, ${genesis.hash} FROM unnest(${organizations}::text[]) AS o ORDER BY o ON CONFLICT DO NOTHING`,
    c`SELECT chain, sequence, hash FROM audit_heads WHERE chain = ANY(${organizations}::text[]) ORDER BY chain FOR NO KEY UPDATE`,
  ]);
  if (slots.length < rows.length || replies.length < kept.length) throw new SlotRace();
  return heads as readonly Row[];
}

/** Trip 3: the audit events behind their heads. The caller sends COMMIT in the same trip. */
export function auditStatements(
  c: ReservedSql,
  happened: readonly AuditEvent[],
  heads: readonly Row[],
): readonly PromiseLike<unknown>[] {
  const events = Map.groupBy(happened, (event) => event.organizationId ?? "platform");
  const chained = heads.flatMap((head) => {
    const chain = head["chain"] as string;
    return chainEvents(chain, { sequence: Number(head["sequence"]), hash: head["hash"] as string }, events.get(chain) ?? []);
  });
  const last = [...Map.groupBy(chained, (event) => event.chain).values()].map((ofChain) => ofChain.at(-1)!);
  const chains = last.map((event) => event.chain);
  return [
    insertAudit(c, chained),
    c`UPDATE audit_heads SET (sequence, hash) = (
        SELECT d.sequence::bigint, d.hash
        FROM unnest(${chains}::text[], ${last.map((event) => String(event.sequence))}::text[], ${last.map((event) => event.hash)}::text[])
          AS d(chain, sequence, hash)
        WHERE d.chain = audit_heads.chain)
      WHERE chain = ANY(${chains}::text[])`,
  ];
}
