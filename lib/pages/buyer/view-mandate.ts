import { countWaitingUnder } from "#lib/pages/buyer/approvals/page-store.ts";
import { subjectNames } from "#lib/identity/subject-name-store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { sumRecords } from "#lib/holds/record-store.ts";
import { submittedExecutions } from "#lib/holds/past-payment-store.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { sumCards } from "#lib/pages/buyer/spending/insight-store.ts";
import { selectSteps, selectVersions } from "#lib/pages/buyer/mandates/page-store.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { presentMandate, type MandateRow } from "#lib/mandates/present-mandate.ts";
import { findMandate, liveBuckets, reading, type Scope } from "#lib/mandates/store.ts";
import { add, formatAmount, subtract, zero, type Atomic } from "#lib/money.ts";
import { notFound } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";
import type { Rail } from "#lib/vocabulary.ts";

export type MandateEvent = {
  /** The audit event's type: "mandate.suspended". */
  readonly type: string;
  readonly at: string;
  readonly by: string;
  /** The version of the mandate that the event names; null if it names none. */
  readonly version: number | null;
  readonly reason: string | null;
  /** The policy of the new version, if the event created one of the newest 50 versions. */
  readonly policy: Policy | null;
};

export type MandateView = {
  readonly mandate: Mandate;
  /** Names of the service accounts that the mandate is bound to, and of the actors in `history`. */
  readonly names: Readonly<Record<string, string>>;
  readonly history: readonly MandateEvent[];
  /** Since the mandate was made, as decimal text; empty unless it admits more than one rail. */
  readonly rails: readonly { readonly rail: Rail; readonly spent: string; readonly reserved: string }[];
  /** What a revocation would affect. */
  readonly effect: {
    /** Without what is kept, as decimal text in the mandate's asset. */
    readonly reserved: string;
    /** What stays held until a person closes payments that are made elsewhere, or Stripe tells what became of those by card. */
    readonly kept: string;
    readonly submitted: number;
    readonly waiting: number;
  };
};

const HISTORY_MAX = 50;

/** @throws Problem not_found for a mandate of another organization */
export const viewMandate = (scope: Scope, mandateId: string): Promise<MandateView> =>
  reading(async (tx, now) => {
    const row = await findMandate(tx, scope, mandateId);
    if (row === null) throw notFound("mandate");
    const decimals = decimalsOf(row);
    const [buckets, steps, versions, submitted, waiting, [records], cards] = [
      await liveBuckets(tx, [mandateId], now),
      await selectSteps(tx, scope, mandateId, HISTORY_MAX),
      await selectVersions(tx, mandateId, HISTORY_MAX),
      await submittedExecutions(tx, mandateId),
      await countWaitingUnder(tx, scope, mandateId, now),
      await sumRecords(tx, scope.organizationId, mandateId),
      await sumCards(tx, scope, mandateId),
    ];
    const names = await subjectNames(tx, scope.organizationId, [...steps.map((step) => step.actorId), ...(row.agents ?? [])]);
    const policies = new Map(versions.map(({ version, policy }) => [version, policy]));
    const kept = add(records?.kept ?? zero, cards.open);
    return {
      mandate: presentMandate(row, buckets, decimals, now),
      names: Object.fromEntries(names),
      history: steps.map((step) => eventOf(step, names, policies)),
      rails: railsOf(row, { record: records, card: cards }, decimals),
      effect: {
        reserved: formatAmount(subtract(row.reserved, kept), decimals),
        kept: formatAmount(kept, decimals),
        submitted: submitted.length,
        waiting,
      },
    };
  });

type RailSums = { readonly isWhole: boolean; readonly spent: Atomic; readonly open: Atomic };

/** What did not go over another rail went by x402. */
function railsOf(
  { policy: { rails = [] }, spent, reserved }: MandateRow,
  { record, card }: { readonly record: RailSums | undefined; readonly card: RailSums },
  decimals: number,
) {
  if (!record?.isWhole || !card.isWhole || rails.length < 2) return [];
  const x402 = {
    spent: subtract(spent, add(record.spent, card.spent)),
    open: subtract(reserved, add(record.open, card.open)),
  };
  const sums = { x402, record, card };
  return rails.map((rail) => ({
    rail,
    spent: formatAmount(sums[rail].spent, decimals),
    reserved: formatAmount(sums[rail].open, decimals),
  }));
}

type Step = Awaited<ReturnType<typeof selectSteps>>[number];

function actorWords(actorId: string): string {
  if (actorId === "service") return "the service";
  return actorId.startsWith("0x") ? "the mandate’s wallet" : actorId;
}

function eventOf(
  { type, actorId, createdAt, metadata }: Step,
  names: ReadonlyMap<string, string>,
  policies: ReadonlyMap<number, Policy>,
): MandateEvent {
  const { version, reason } = metadata as { readonly version?: unknown; readonly reason?: unknown };
  const made = typeof version === "number" ? version : null;
  const writes = type === "mandate.created" || type === "mandate.versioned";
  return {
    type,
    at: toWire(createdAt),
    by: names.get(actorId) ?? actorWords(actorId),
    version: made,
    reason: typeof reason === "string" ? reason : null,
    policy: writes && made !== null ? (policies.get(made) ?? null) : null,
  };
}
