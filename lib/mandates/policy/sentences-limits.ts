import type { ReasonWindow } from "#lib/mandates/policy/facts.ts";
import { displayText } from "#lib/money.ts";
import { fixed, sentence, type Head, type Said } from "#lib/mandates/policy/sentences/sentence.ts";

/** Only in decisions of earlier releases, as is `closedBefore`. */
export const openBefore = sentence(60, "satisfied", "schedule", (_, schedule: string) => ({
  message: `Payments are allowed on ${schedule}.`,
  pointer: "/schedule",
}));
export const closedBefore = sentence(61, "outside_schedule", "schedule", (_, schedule: string) => ({
  message: `Payments are allowed on ${schedule} alone.`,
  pointer: "/schedule",
}));
/** `schedule` begins with "every day", "on weekdays" or the like. */
export const open = sentence(98, "satisfied", "schedule", (_, schedule: string) => ({
  message: `Payments are allowed ${schedule}.`,
  pointer: "/schedule",
}));
export const closed = sentence(90, "outside_schedule", "schedule", (_, schedule: string) => ({
  message: `Payments are only allowed ${schedule}.`,
  pointer: "/schedule",
}));

const perPayment = ({ unit, requested }: Head, limit: string, is: string): Said => ({
  message: `This payment of ${displayText(requested, unit)} is ${is} the limit of ${displayText(limit, unit)} per payment.`,
  pointer: "/limits/perPayment",
  limit,
  requested,
  unit,
});
export const withinPerPayment = sentence(62, "satisfied", "limits.perPayment", (head, limit: string) =>
  perPayment(head, limit, "within"),
);
export const abovePerPayment = sentence(63, "per_payment_limit_exceeded", "limits.perPayment", (head, limit: string) =>
  perPayment(head, limit, "above"),
);

type Amounts = readonly [pointer: string, limit: string, used: string, remaining: string];
/** The span is a calendar period, or the minutes of a rolling window, which has no time zone. */
export type SpanValues = readonly [span: string | number, start: string, end: string, timezone: string | null];

const LIFETIME: ReasonWindow = { kind: "lifetime" };

function windowOf([, start, end, timezone]: SpanValues): ReasonWindow {
  return timezone === null ? { kind: "rolling", start, end } : { kind: "calendar", start, end, timezone };
}

/** As in "17.00 USDC of 20.00 USDC are left today". */
function inWords([span]: SpanValues): string {
  if (typeof span === "string") return span === "day" ? "today" : `this ${span}`;
  return span % 60 === 0 ? `within ${span / 60} hours` : `within ${span} minutes`;
}

const budget = (
  { unit, requested }: Head,
  [pointer, limit, used, remaining]: Amounts,
  window: ReasonWindow,
  message: string,
) => ({
  message,
  pointer,
  limit,
  used,
  requested,
  remaining,
  unit,
  window,
});

const left = (unit: string, [, limit, , remaining]: Amounts, when: string): string =>
  `${displayText(remaining, unit)} of ${displayText(limit, unit)} are left ${when}`;
const takes = ({ unit, requested }: Head): string => `and this payment takes ${displayText(requested, unit)}.`;

export const usedUp = sentence(64, "mandate_exhausted", "limits.total", (head, ...amounts: Amounts) =>
  budget(head, amounts, LIFETIME, `The mandate is used up: its ${displayText(amounts[1], head.unit)} are spent or reserved.`),
);
export const withinTotal = sentence(65, "satisfied", "limits.total", (head, ...amounts: Amounts) =>
  budget(head, amounts, LIFETIME, `${left(head.unit, amounts, "in total")}.`),
);
export const aboveTotal = sentence(66, "total_budget_exceeded", "limits.total", (head, ...amounts: Amounts) =>
  budget(head, amounts, LIFETIME, `${left(head.unit, amounts, "in total")}, ${takes(head)}`),
);

type Windowed = readonly [...Amounts, ...SpanValues];
const split = ([pointer, limit, used, remaining, ...span]: Windowed): readonly [Amounts, SpanValues] => [
  [pointer, limit, used, remaining],
  span,
];

export const withinBudget = sentence(67, "satisfied", "limits.budgets", (head, ...values: Windowed) => {
  const [amounts, span] = split(values);
  return budget(head, amounts, windowOf(span), `${left(head.unit, amounts, inWords(span))}.`);
});
export const aboveBudget = sentence(68, "period_budget_exceeded", "limits.budgets", (head, ...values: Windowed) => {
  const [amounts, span] = split(values);
  return budget(head, amounts, windowOf(span), `${left(head.unit, amounts, inWords(span))}, ${takes(head)}`);
});

type Counts = readonly [pointer: string, limit: number, used: number, ...SpanValues];
function count(...[pointer, limit, used, ...span]: Counts): Said {
  const remaining = Math.max(0, limit - used);
  return {
    message: `${remaining} of ${limit} payments are left ${inWords(span)}.`,
    pointer,
    limit: String(limit),
    used: String(used),
    requested: "1",
    remaining: String(remaining),
    unit: "payments",
    window: windowOf(span),
  };
}
export const withinCount = sentence(69, "satisfied", "limits.counts", (_, ...values: Counts) => count(...values));
export const aboveCount = sentence(70, "count_limit_exceeded", "limits.counts", (_, ...values: Counts) => count(...values));

const cooldown = (limit: number, remaining: number, message: string): Said => ({
  message,
  pointer: "/limits/cooldownSeconds",
  limit: String(limit),
  remaining: String(remaining),
  unit: "seconds",
});
export const cool = sentence(71, "satisfied", "limits.cooldownSeconds", (_, seconds: number) =>
  cooldown(seconds, 0, `The last payment is at least ${seconds} seconds ago.`),
);
export const cooling = sentence(72, "cooldown_active", "limits.cooldownSeconds", (_, seconds: number, remaining: number) =>
  cooldown(seconds, remaining, `The next payment is possible in ${remaining} seconds.`),
);

const fee = ({ unit }: Head, share: string, limit: string, is: string): Said => ({
  message: `The buyer's fee of ${displayText(share, unit)} is ${is} the policy's ${displayText(limit, unit)}.`,
  pointer: "/maximumFee",
  limit,
  requested: share,
  unit,
});
export const withinFee = sentence(73, "satisfied", "maximumFee", (head, share: string, limit: string) =>
  fee(head, share, limit, "within"),
);
export const aboveFee = sentence(74, "fee_limit_exceeded", "maximumFee", (head, share: string, limit: string) =>
  fee(head, share, limit, "above"),
);

/** `above` is the amount above which the policy asks a person; null in the other modes. */
const approval = ({ unit, requested }: Head, message: string, above: string | null): Said => ({
  message,
  pointer: "/approval",
  ...(above !== null && { limit: above, requested, unit }),
});
export const PERSON_APPROVED = "A person approved this payment.";
export const approved = sentence(75, "satisfied", "approval", (head, above: string | null) =>
  approval(head, PERSON_APPROVED, above),
);
export const asksAlways = fixed(
  76,
  "approval_required",
  "approval",
  "The policy asks a person before every payment.",
  "/approval",
);
export const paidBefore = fixed(77, "satisfied", "approval", "This seller was paid before under this mandate.", "/approval");
export const asksFirst = fixed(
  78,
  "approval_required",
  "approval",
  "The policy asks a person before the first payment to a seller.",
  "/approval",
);
const asksAbove = (head: Head, limit: string): Said =>
  approval(head, `The policy asks a person before payments above ${displayText(limit, head.unit)}.`, limit);
export const above = sentence(79, "approval_required", "approval", asksAbove);
export const notAbove = sentence(80, "satisfied", "approval", asksAbove);

/** `isOwn` is 1 if the same agent made the first request. */
export const repeated = sentence(88, "request_repeated", "approval", (_, authorizationId: string, isOwn: number) => ({
  message:
    isOwn === 1
      ? `You asked for this payment before, under the authorization ${authorizationId}. Wait for that decision and pay under that authorization.`
      : `Another agent asked for this payment before, under the authorization ${authorizationId}. Only that agent can pay under it.`,
  authorizationId,
  resumable: isOwn === 1,
}));
