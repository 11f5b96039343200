import { askedIntentOf } from "#lib/approvals/asked-intent.ts";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import type { MandateView } from "#lib/approvals/checkout-view.ts";
import { candidateMandates, type Scope } from "#lib/approvals/store.ts";
import { database } from "#lib/db/client.ts";
import { highestAsked } from "#lib/mandates/assurance.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { denials } from "#lib/mandates/denials.ts";
import { presentMandate } from "#lib/mandates/present-mandate.ts";
import { findMandates, liveBuckets, reading } from "#lib/mandates/store.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import { formatAmount, parseAmount, type Atomic } from "#lib/money.ts";
import { simulatePayments } from "#lib/payments/simulate-payment.ts";
import { minutes } from "#lib/time.ts";
import type { DenialCode, MandateMatch } from "#lib/vocabulary.ts";

const MANDATES = 20;

/** Not a whole checkout row: a preview asks before its row exists. */
export type Candidate = Omit<Parameters<typeof askedIntentOf>[0], "checkoutIntentId"> &
  Scope & {
    readonly checkoutIntentId: string;
    readonly ownerSubjectId: string;
    /** The authorization that asked for the approval. If it is set, only its own mandate can pay. */
    readonly authorizationId: string | null;
    readonly mandateId: string | null;
    readonly charged: Atomic;
  };

export type Choice = MandateView & {
  readonly denialCode: DenialCode | null;
  readonly feeQuote: PaymentIntent["feeQuote"] | null;
};

/** The buyer's mandates that could pay this checkout. Mandates that cover it come first. */
export async function mandateChoices(candidate: Candidate, named: readonly string[] = []): Promise<readonly Choice[]> {
  const { asset, chain } = candidate;
  const bound = candidate.authorizationId !== null;
  const known = [...named, ...(candidate.mandateId === null ? [] : [candidate.mandateId])];
  const ids = bound ? known : await candidateMandates(database(), candidate, { asset, chain, named: known }, MANDATES);
  if (ids.length === 0) return [];
  const decisions = bound ? new Map<string, Simulated>() : await decideUnder(candidate, ids);
  const mandates = await readMandates(candidate, ids);
  const choices = mandates.map((mandate) => {
    const simulated = decisions.get(mandate.mandateId) ?? null;
    const match = bound ? mandate.status === "active" : simulated !== null && simulated.decision.outcome !== "deny";
    return viewOf(mandate, simulated, match, candidate);
  });
  return choices.toSorted((a, b) => Number(b.match) - Number(a.match));
}

/** Returns the mandates in the order of the ids, with two statements for any number of them. */
const readMandates = (scope: Scope, ids: readonly string[]): Promise<readonly Mandate[]> =>
  reading(async (tx, now) => {
    const [rows, buckets] = await Promise.all([findMandates(tx, scope, ids), liveBuckets(tx, ids, now)]);
    const ofMandate = Map.groupBy(buckets, ({ mandateId }) => mandateId);
    const byId = new Map(rows.map((row) => [row.mandateId, row] as const));
    return ids
      .flatMap((id) => byId.get(id) ?? [])
      .map((row) => presentMandate(row, ofMandate.get(row.mandateId) ?? [], decimalsOf(row), now));
  });

type Simulated = Awaited<ReturnType<typeof simulatePayments>> extends ReadonlyMap<string, infer S> ? S : never;

async function decideUnder(candidate: Candidate, mandateIds: readonly string[]): Promise<ReadonlyMap<string, Simulated>> {
  const { organizationId, environment, ownerSubjectId } = candidate;
  const intent = askedIntentOf(candidate, new Date(Date.now() + minutes(30)));
  return simulatePayments(mandateIds, {
    organizationId,
    environment: environment as "sandbox" | "production",
    asker: { kind: "key", subjectId: ownerSubjectId },
    intent,
    requestId: candidate.checkoutIntentId,
  });
}

function viewOf(
  mandate: Mandate,
  simulated: Simulated | null,
  match: boolean,
  { charged, asset, authorizationId }: Candidate,
): Choice {
  const decimals = decimalsOf({ asset: mandate.policy.assets[0]?.asset ?? asset, chain: mandate.policy.assets[0]?.chain ?? "" });
  // The usage already contains the hold of the authorization.
  const more = authorizationId === null ? charged : 0n;
  const budgets = mandate.usage.map(({ window, unit, limit, spent, reserved, available }) => {
    const left = unit === "payments" ? BigInt(available) - (more > 0n ? 1n : 0n) : parseAmount(available, decimals) - more;
    const after = unit === "payments" ? String(left) : formatAmount(left < 0n ? 0n : left, decimals);
    // The authorization's own hold counts as this payment.
    const others = unit === "payments" ? 0n : parseAmount(reserved, decimals) + more - charged;
    const heldByOthers = unit === "payments" ? reserved : formatAmount(others < 0n ? 0n : others, decimals);
    return { window, unit, limit, spent, heldByOthers, available, ...(left >= 0n && { availableAfter: after }) };
  });
  const amounts = budgets.filter((budget) => budget.unit !== "payments").map((budget) => parseAmount(budget.available, decimals));
  const least = amounts.reduce((least, amount) => (amount < least ? amount : least), amounts[0] ?? (0n as Atomic));
  return {
    mandateId: mandate.mandateId,
    name: mandate.name,
    status: mandate.status,
    asset: mandate.policy.assets[0]?.asset ?? asset,
    available: formatAmount(least, decimals),
    match,
    perPayment: mandate.policy.limits.perPayment,
    budgets,
    obstacles: (simulated?.decision.reasons ?? []).filter(({ effect }) => effect === "deny").map(({ message }) => message),
    assuranceAsked: highestAsked([mandate.policy.minimumAssuranceLevel]),
    denialCode: simulated?.decision.denialCode ?? null,
    feeQuote: simulated?.intent.feeQuote ?? null,
  };
}

/** The fields of a choice that the API returns. */
export const presentChoices = (choices: readonly Choice[]) =>
  choices.map(({ mandateId, name, status, asset, available, match }) => ({ mandateId, name, status, asset, available, match }));

export type Detected = {
  readonly mandateId: string | null;
  readonly detectedMandateId: string | null;
  readonly mandateStatus: MandateMatch;
};

/** The mandate that would pay a checkout: the one that was named, else the only one that covers it. */
export function detectMandate(choices: readonly Choice[], named: string | null): Detected {
  const matching = choices.filter((choice) => choice.match);
  const [only, another] = matching;
  const detectedMandateId = only && !another ? only.mandateId : null;
  if (named !== null) {
    const choice = choices.find(({ mandateId }) => mandateId === named);
    const status = choice?.match ? (detectedMandateId === named ? "active_match" : "selected") : whyNot(choice);
    return { mandateId: named, detectedMandateId, mandateStatus: status };
  }
  if (only) {
    return { mandateId: detectedMandateId, detectedMandateId, mandateStatus: another ? "multiple_matches" : "active_match" };
  }
  return { mandateId: null, detectedMandateId: null, mandateStatus: whyNot(choices[0]) };
}

function whyNot(choice: Choice | undefined): MandateMatch {
  if (!choice?.denialCode) return "no_mandate";
  return denials[choice.denialCode].match ?? "seller_not_allowed";
}

/** The amount that a checkout takes from the mandate's budget: its price and the buyer's share of the fee. */
export function chargedFor({
  amount,
  tokenDecimals,
  feeQuote,
}: Pick<CheckoutRow, "amount" | "tokenDecimals" | "feeQuote">): Atomic {
  return (amount + buyerShareOf(feeQuote, tokenDecimals)) as Atomic;
}

export function buyerShareOf(feeQuote: CheckoutRow["feeQuote"], decimals: number): Atomic {
  if (!feeQuote) return 0n as Atomic;
  const fee = parseAmount(feeQuote.serviceFeeAmount, decimals);
  const sellerShare = parseAmount(feeQuote.grossAmount, decimals) - parseAmount(feeQuote.sellerNetAmount, decimals);
  return (fee - sellerShare) as Atomic;
}
