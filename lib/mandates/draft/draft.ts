import { draftRails, type RailDraft } from "#lib/mandates/draft/draft-rails.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { weekdays, type Weekday } from "#lib/mandates/policy/words.ts";
import type { AssuranceLevel, Period, Unit } from "#lib/vocabulary.ts";

export type ApprovalMode = NonNullable<Policy["approval"]>["mode"];

/** A budget or payment count that has no separate field in the form. */
export type LimitRow = {
  readonly kind: "amount" | "payments";
  readonly span: Period | "rolling";
  readonly timezone: string;
  /** ISO 8601 duration. */
  readonly rolling: string;
  readonly value: string;
};

/** `allow` restricts only if `only` is true; `deny` always wins. */
export type Places = { readonly only: boolean; readonly allow: readonly string[]; readonly deny: readonly string[] };

export type MandateDraft = RailDraft & {
  readonly name: string;
  readonly everyAgent: boolean;
  readonly agents: readonly string[];
  readonly wallet: string;
  /** Empty for a new wallet. */
  readonly walletChain: string;
  /** Such as "USDC eip155:84532". Not used with a unit. */
  readonly coin: string;
  /** Empty if the limits are in the asset. */
  readonly unit: "" | Unit;
  /** With a unit: what one whole asset counts as. */
  readonly rates: readonly { readonly coin: string; readonly counts: string }[];
  readonly perPayment: string;
  readonly day: string;
  readonly month: string;
  readonly total: string;
  readonly countDay: string;
  /** The time zone of the daily and monthly limits. */
  readonly timezone: string;
  readonly more: readonly LimitRow[];
  readonly cooldownSeconds: string;
  readonly mode: ApprovalMode;
  readonly above: string;
  /** The longest wait for a person's approval, in seconds; empty for the default. */
  readonly requestSeconds: string;
  readonly assurance: AssuranceLevel;
  readonly domains: Places;
  readonly sellers: Places;
  readonly payTo: Places;
  readonly unregistered: boolean;
  readonly verified: boolean;
  /** Entries are "sellerId resourceId" or "sellerId METHOD /path". */
  readonly resources: { readonly only: boolean; readonly allow: readonly string[] };
  readonly fee: { readonly as: "none" | "percent" | "amount"; readonly value: string };
  readonly schedule: {
    readonly on: boolean;
    readonly days: readonly Weekday[];
    readonly from: string;
    readonly to: string;
    readonly timezone: string;
  };
  /** UTC: "2027-03-31T22:00". */
  readonly validFrom: string;
  readonly validUntil: string;
};

const anywhere: Places = { only: false, allow: [], deny: [] };

export const newDraft = (coin: string): MandateDraft => ({
  name: "",
  everyAgent: true,
  agents: [],
  wallet: "",
  walletChain: "",
  coin,
  unit: "",
  rates: [{ coin, counts: "" }],
  ...draftRails({}),
  perPayment: "",
  day: "",
  month: "",
  total: "",
  countDay: "",
  timezone: "UTC",
  more: [],
  cooldownSeconds: "",
  mode: "above",
  above: "",
  requestSeconds: "",
  assurance: "softwareApproved",
  domains: anywhere,
  sellers: anywhere,
  payTo: anywhere,
  unregistered: false,
  verified: false,
  resources: { only: false, allow: [] },
  fee: { as: "none", value: "" },
  schedule: { on: false, days: weekdays.slice(0, 5), from: "08:00", to: "18:00", timezone: "UTC" },
  validFrom: "",
  validUntil: "",
});

type StoredMandate = {
  readonly name: string;
  readonly policy: Policy;
  readonly agents?: readonly string[] | undefined;
  readonly wallet?: { readonly address: string; readonly chain?: string } | undefined;
};

export function draftOf({ name, policy, agents, wallet }: StoredMandate): MandateDraft {
  const [coin] = policy.assets;
  const base = newDraft(`${coin?.asset} ${coin?.chain}`);
  const { fee, schedule, validFrom, validUntil } = policyTimes(policy, base);
  const { sellers, domains, payTo, resources, approval } = policy;
  return {
    ...base,
    ...limitsOf(policy),
    name,
    everyAgent: agents === undefined,
    agents: agents ?? [],
    wallet: wallet?.address ?? "",
    walletChain: wallet?.chain ?? "",
    ...coinsOf(policy),
    ...draftRails(policy),
    mode: approval?.mode ?? "never",
    above: approval?.amount ?? "",
    requestSeconds: approval?.expiresInSeconds === undefined ? "" : String(approval.expiresInSeconds),
    assurance: policy.minimumAssuranceLevel ?? "softwareApproved",
    domains: placesOf(domains),
    sellers: placesOf(sellers),
    payTo: placesOf(payTo),
    unregistered: sellers?.unregistered === "allow",
    verified: policy.requireVerifiedSeller ?? false,
    resources: { only: resources !== undefined, allow: (resources ?? []).map(resourceText) },
    fee,
    schedule,
    validFrom,
    validUntil,
  };
}

const coinsOf = ({ unit, assets }: Policy): Pick<MandateDraft, "unit" | "rates"> => ({
  unit: unit ?? "",
  rates: assets.map(({ asset, chain, counts = "" }) => ({ coin: `${asset} ${chain}`, counts })),
});

/** What the amounts of the form are in. */
export const draftUnit = ({ unit, coin }: Pick<MandateDraft, "unit" | "coin">): string => unit || (coin.split(" ")[0] ?? "");

type Lists = { readonly allow?: readonly string[] | undefined; readonly deny?: readonly string[] | undefined };
const placesOf = (lists: Lists | undefined): Places => ({
  only: lists?.allow !== undefined,
  allow: lists?.allow ?? [],
  deny: lists?.deny ?? [],
});

type Resource = NonNullable<Policy["resources"]>[number];
const resourceText = (one: Resource): string =>
  "resourceId" in one ? `${one.sellerId} ${one.resourceId}` : `${one.sellerId} ${one.method} ${one.pathTemplate}`;

function policyTimes({ maximumFee, schedule, validFrom, validUntil }: Policy, base: MandateDraft) {
  return {
    fee: feeOf(maximumFee),
    schedule: schedule === undefined ? base.schedule : { on: true, ...schedule },
    validFrom: wallClock(validFrom),
    validUntil: wallClock(validUntil),
  };
}

function feeOf(fee: Policy["maximumFee"]): MandateDraft["fee"] {
  if (fee === undefined) return { as: "none", value: "" };
  return "bps" in fee ? { as: "percent", value: String(fee.bps / 100) } : { as: "amount", value: fee.amount };
}

/** Shows seconds and milliseconds only if one of them is not zero. */
function wallClock(at: string | undefined): string {
  if (at === undefined) return "";
  const text = new Date(at).toISOString();
  return text.endsWith(":00.000Z") ? text.slice(0, 16) : text.slice(0, 23);
}

type Budget = NonNullable<Policy["limits"]["budgets"]>[number];
type Count = NonNullable<Policy["limits"]["counts"]>[number];
const isCalendar = <S extends Budget | Count>(span: S): span is Extract<S, { readonly period: Period }> => "period" in span;

/** One daily and one monthly budget and one daily count, in the policy's first time zone, have fields; the rest are rows. */
function limitsOf({ limits }: Policy) {
  const { budgets = [], counts = [] } = limits;
  const timezone = [...budgets, ...counts].find(isCalendar)?.timezone ?? "UTC";
  const common = (span: Budget | Count, period: Period) =>
    isCalendar(span) && span.period === period && span.timezone === timezone;
  const [day, month] = (["day", "month"] as const).map((period) => budgets.find((one) => common(one, period)));
  const countDay = counts.find((one) => common(one, "day"));
  const row = (kind: LimitRow["kind"], span: Budget | Count, value: string): LimitRow => ({
    kind,
    span: isCalendar(span) ? span.period : "rolling",
    timezone: isCalendar(span) ? span.timezone : timezone,
    rolling: isCalendar(span) ? "PT24H" : span.rolling,
    value,
  });
  return {
    perPayment: limits.perPayment,
    total: limits.total ?? "",
    day: day?.amount ?? "",
    month: month?.amount ?? "",
    countDay: countDay === undefined ? "" : String(countDay.max),
    timezone,
    more: [
      ...budgets.filter((one) => one !== day && one !== month).map((one) => row("amount", one, one.amount)),
      ...counts.filter((one) => one !== countDay).map((one) => row("payments", one, String(one.max))),
    ],
    cooldownSeconds: limits.cooldownSeconds === undefined ? "" : String(limits.cooldownSeconds),
  };
}
