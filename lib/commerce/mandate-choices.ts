import { intentOfCheckout } from "#lib/approvals/intent-of-checkout.ts";
import type { Candidates } from "#lib/approvals/candidate-store.ts";
import type { MandateView } from "#lib/approvals/checkout-view.ts";
import type { Scope } from "#lib/approvals/store.ts";
import { askRules } from "#lib/mandates/policy/ask-rules.ts";
import { countedAs, REQUEST_MS } from "#lib/mandates/policy/compile-policy.ts";
import { highestAsked } from "#lib/mandates/policy/assurance.ts";
import { denials } from "#lib/mandates/policy/denials.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import { formatAmount, parseAmount, zero, type Atomic } from "#lib/money.ts";
import { readUsage, simulatePayments, type Prospect } from "#lib/payments/simulate-payment.ts";
import type { DenialCode, Environment, MandateMatch } from "#lib/vocabulary.ts";

/** What mandateChoices reads. In a preview, the checkout is not stored yet. */
export type Candidate = Omit<Parameters<typeof intentOfCheckout>[0], "checkoutIntentId"> &
  Scope & {
    readonly checkoutIntentId: string;
    readonly ownerSubjectId: string;
    /** The authorization that asked for the approval, or that the approval made; if it is set, only `mandateId` can pay. */
    readonly authorizationId: string | null;
    readonly mandateId: string | null;
    readonly charged: Atomic;
  };

export type Choice = MandateView & {
  readonly denialCode: DenialCode | null;
  readonly feeQuote: PaymentIntent["feeQuote"] | null;
  /** The mandate's limit, in milliseconds, on how long a new checkout waits for a person's decision. */
  readonly requestMs: number;
};

/** Mandates that can pay come first. If `candidate` has an authorization, returns only its mandate and simulates no policy. */
export async function mandateChoices(candidate: Candidate, { mandates, now }: Candidates): Promise<readonly Choice[]> {
  const bound = candidate.authorizationId !== null;
  const payable = bound ? mandates.filter(({ mandateId }) => mandateId === candidate.mandateId) : mandates;
  if (payable.length === 0) return [];
  const { organizationId, environment, ownerSubjectId, checkoutIntentId } = candidate;
  const payment = {
    organizationId,
    environment: environment as Environment,
    asker: { kind: "key", subjectId: ownerSubjectId },
    intent: intentOfCheckout(candidate, new Date(now.getTime() + REQUEST_MS)),
    requestId: checkoutIntentId,
  } as const;
  const ids = payable.map(({ mandateId }) => mandateId);
  const prospects = await (bound ? readUsage : simulatePayments)(ids, payment);
  const choices = payable.flatMap((mandate) => {
    const prospect = prospects.get(mandate.mandateId);
    return prospect ? choiceOf({ ...mandate, ...prospect }, candidate) : [];
  });
  return choices.toSorted((a, b) => Number(b.match) - Number(a.match));
}

function choiceOf(
  { mandateId, name, status, policy, usage, simulated }: Candidates["mandates"][number] & Prospect,
  { authorizationId, ...payment }: Candidate,
): Choice {
  const { asset, decimals } = policy;
  // Without a rate, the mandate cannot pay, and nothing is known about its budgets after the payment.
  const charged = countedAs(policy, { ...payment, decimals: payment.tokenDecimals }, payment.charged) ?? zero;
  const bound = authorizationId !== null;
  // If an authorization has a hold, the usage already contains it.
  const more = bound ? 0n : charged;
  const budgets = usage.map(({ window, unit, limit, spent, reserved, available }) => {
    const left = unit === "payments" ? BigInt(available) - (more > 0n ? 1n : 0n) : parseAmount(available, decimals) - more;
    const after = unit === "payments" ? String(left) : formatAmount(left < 0n ? 0n : left, decimals);
    // If this payment has a hold, `reserved` contains it, and otherwise `more` adds it.
    const others = unit === "payments" ? 0n : parseAmount(reserved, decimals) + more - charged;
    const heldByOthers = unit === "payments" ? reserved : formatAmount(others < 0n ? 0n : others, decimals);
    return { window, unit, limit, spent, heldByOthers, available, ...(left >= 0n && { availableAfter: after }) };
  });
  const amounts = budgets.filter((budget) => budget.unit !== "payments").map((budget) => parseAmount(budget.available, decimals));
  const least = amounts.reduce((least, amount) => (amount < least ? amount : least), amounts[0] ?? (0n as Atomic));
  const decision = simulated?.decision ?? null;
  return {
    mandateId,
    name,
    status,
    asset,
    available: formatAmount(least, decimals),
    match: bound ? status === "active" : decision !== null && decision.outcome !== "deny",
    perPayment: formatAmount(policy.perPayment, decimals),
    charged: formatAmount(charged, decimals),
    budgets,
    obstacles: (decision?.reasons ?? []).filter(({ effect }) => effect === "deny").map(({ message }) => message),
    assuranceAsked: highestAsked([policy.minimumAssuranceLevel]),
    asks: decision ? askRules(decision.findings) : [],
    denialCode: decision?.denialCode ?? null,
    feeQuote: simulated?.intent.feeQuote ?? null,
    requestMs: policy.approval.requestMs,
  };
}

export const presentChoices = (choices: readonly Choice[]) =>
  choices.map(({ mandateId, name, status, asset, available, match }) => ({ mandateId, name, status, asset, available, match }));

export type Detection = {
  readonly mandateId: string | null;
  readonly detectedMandateId: string | null;
  readonly mandateStatus: MandateMatch;
};

/** The mandate that was named, else the only one that can pay. */
export function detectMandate(choices: readonly Choice[], named: string | null): Detection {
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
