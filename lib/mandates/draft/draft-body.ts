import { railPlaces, railsBody } from "#lib/mandates/draft/draft-rails.ts";
import type { LimitRow, MandateDraft, Places } from "#lib/mandates/draft/draft.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";

export type DraftTerms = {
  readonly name: string;
  readonly policy: Policy;
  /** Null for every agent of the organization. */
  readonly agents: readonly string[] | null;
  readonly wallet: { readonly chain: string; readonly address: string } | null;
};

/** Maps a pointer into the request body to a field of the form, by the longest matching pointer. */
export type FieldOf = (pointer: string) => string | undefined;

/** Invalid values are left for the schema to refuse; `fieldOf` maps its pointers back to form fields. */
export function draftTermsOf(draft: MandateDraft): { readonly terms: DraftTerms; readonly fieldOf: FieldOf } {
  const assets = assetsOf(draft);
  const { limits, places } = limitsOf(draft);
  const policy = {
    ...(draft.unit !== "" && { unit: draft.unit }),
    assets,
    ...railsBody(draft),
    limits,
    ...sellersOf(draft),
    ...(draft.resources.only && { resources: draft.resources.allow.map(resourceOf) }),
    ...approvalOf(draft),
    ...(draft.assurance !== "softwareApproved" && { minimumAssuranceLevel: draft.assurance }),
    ...(draft.verified && { requireVerifiedSeller: true }),
    ...feeOf(draft.fee),
    ...timesOf(draft),
  } as Policy;
  const wallet = draft.wallet.trim();
  const terms = {
    name: draft.name,
    policy,
    agents: draft.everyAgent ? null : draft.agents,
    wallet: wallet === "" ? null : { chain: walletChainOf(draft, assets), address: wallet },
  };
  return { terms, fieldOf: fieldsOf([...places, ...ratePlaces(draft), ...railPlaces(draft)]) };
}

const text = (value: string): string => value.trim();
/** NaN for text that is not a whole number; the schema refuses it. */
const numberOf = (value: string): number => (/^[0-9]+$/.test(text(value)) ? Number(text(value)) : Number.NaN);

const coinOfText = (coin: string) => {
  const [asset = "", chain = ""] = coin.split(" ");
  return { asset, chain };
};

const assetsOf = ({ unit, coin, rates }: MandateDraft): Policy["assets"] =>
  unit === "" ? [coinOfText(coin)] : rates.map((one) => ({ ...coinOfText(one.coin), counts: text(one.counts) }));

const walletChainOf = ({ walletChain }: MandateDraft, assets: Policy["assets"]): string =>
  (assets.find(({ chain }) => chain === walletChain) ?? assets[0])?.chain ?? "";

const ratePlaces = ({ unit, rates }: MandateDraft): FieldPointers =>
  unit === ""
    ? []
    : [
        ["/policy/assets", "unit"],
        ...rates.flatMap((_, at) => [
          [`/policy/assets/${at}`, `rates.${at}.coin`] as const,
          [`/policy/assets/${at}/counts`, `rates.${at}.counts`] as const,
        ]),
      ];

type FieldPointers = readonly (readonly [pointer: string, field: string])[];

function limitsOf(draft: MandateDraft): { readonly limits: Policy["limits"]; readonly places: FieldPointers } {
  const { timezone } = draft;
  const budgets: { readonly value: object; readonly field: string }[] = [];
  const counts: { readonly value: object; readonly field: string }[] = [];
  for (const period of ["day", "month"] as const) {
    if (text(draft[period]) !== "") budgets.push({ value: { period, timezone, amount: text(draft[period]) }, field: period });
  }
  if (text(draft.countDay) !== "") {
    counts.push({ value: { period: "day", timezone, max: numberOf(draft.countDay) }, field: "countDay" });
  }
  draft.more.forEach((row, at) => {
    const span = spanOf(row);
    const field = `more.${at}`;
    if (row.kind === "amount") budgets.push({ value: { ...span, amount: text(row.value) }, field });
    else counts.push({ value: { ...span, max: numberOf(row.value) }, field });
  });
  const limits = {
    perPayment: text(draft.perPayment),
    ...(text(draft.total) !== "" && { total: text(draft.total) }),
    ...(budgets.length > 0 && { budgets: budgets.map(({ value }) => value) }),
    ...(counts.length > 0 && { counts: counts.map(({ value }) => value) }),
    ...(text(draft.cooldownSeconds) !== "" && { cooldownSeconds: numberOf(draft.cooldownSeconds) }),
  } as Policy["limits"];
  const placed = (name: "budgets" | "counts", list: typeof budgets): FieldPointers =>
    list.flatMap(({ field }, at) => {
      const pointer = `/policy/limits/${name}/${at}`;
      if (!field.startsWith("more.")) return [[pointer, field] as const, [`${pointer}/timezone`, "timezone"] as const];
      return [
        [pointer, `${field}.value`],
        [`${pointer}/timezone`, `${field}.timezone`],
        [`${pointer}/rolling`, `${field}.rolling`],
      ] as const;
    });
  return { limits, places: [...placed("budgets", budgets), ...placed("counts", counts)] };
}

const spanOf = ({ span, timezone, rolling }: LimitRow) =>
  span === "rolling" ? { rolling: text(rolling) } : { period: span, timezone };

const listsOf = ({ only, allow, deny }: Places) => ({
  ...(only && { allow: [...allow] }),
  ...(deny.length > 0 && { deny: [...deny] }),
});

const some = (name: string, rule: object) => (Object.keys(rule).length === 0 ? {} : { [name]: rule });

const sellersOf = ({ sellers, domains, payTo, unregistered }: MandateDraft) => ({
  ...some("sellers", { ...listsOf(sellers), ...(unregistered && { unregistered: "allow" }) }),
  ...some("domains", listsOf(domains)),
  ...some("payTo", listsOf(payTo)),
});

function resourceOf(entry: string): object {
  const [sellerId, second = "", third] = entry.trim().split(/\s+/);
  return third === undefined ? { sellerId, resourceId: second } : { sellerId, method: second.toUpperCase(), pathTemplate: third };
}

function approvalOf({ mode, above, requestSeconds }: MandateDraft) {
  const waits = requestSeconds === "" ? {} : { expiresInSeconds: numberOf(requestSeconds) };
  if (mode === "never" && requestSeconds === "") return {};
  return { approval: { mode, ...(mode === "above" && { amount: text(above) }), ...waits } };
}

function feeOf({ as, value }: MandateDraft["fee"]) {
  if (as === "none") return {};
  if (as === "amount") return { maximumFee: { amount: text(value) } };
  // From the digits, because 2.3 * 100 is not 230 in floating point.
  const [, whole, fraction = ""] = /^([0-9]{1,3})(?:\.([0-9]{1,2}))?$/.exec(text(value)) ?? [];
  return { maximumFee: { bps: whole === undefined ? Number.NaN : Number(whole) * 100 + Number(fraction.padEnd(2, "0")) } };
}

/** The text is a time in UTC. Invalid text is returned unchanged, so that the schema refuses it. */
function momentOf(value: string): string {
  const moment = new Date(`${value}Z`);
  return Number.isNaN(moment.getTime()) ? value : moment.toISOString();
}

function timesOf({ schedule: { on, days, from, to, timezone }, validFrom, validUntil }: MandateDraft) {
  return {
    ...(on && { schedule: { days: [...days], from: text(from), to: text(to), timezone } }),
    ...(validFrom !== "" && { validFrom: momentOf(validFrom) }),
    ...(validUntil !== "" && { validUntil: momentOf(validUntil) }),
  };
}

const fixed: FieldPointers = [
  ["/name", "name"],
  ["/agents", "agents"],
  ["/wallet", "wallet"],
  ["/policy/assets", "coin"],
  ["/policy/unit", "unit"],
  ["/policy/limits", "day"],
  ["/policy/limits/perPayment", "perPayment"],
  ["/policy/limits/total", "total"],
  ["/policy/limits/cooldownSeconds", "cooldownSeconds"],
  ["/policy/approval", "above"],
  ["/policy/approval/expiresInSeconds", "requestSeconds"],
  ["/policy/domains/allow", "domains.allow"],
  ["/policy/domains/deny", "domains.deny"],
  ["/policy/sellers/allow", "sellers.allow"],
  ["/policy/sellers/deny", "sellers.deny"],
  ["/policy/payTo/allow", "payTo.allow"],
  ["/policy/payTo/deny", "payTo.deny"],
  ["/policy/resources", "resources.allow"],
  ["/policy/maximumFee", "fee.value"],
  ["/policy/schedule/days", "schedule.days"],
  ["/policy/schedule/from", "schedule.from"],
  ["/policy/schedule/to", "schedule.to"],
  ["/policy/schedule/timezone", "schedule.timezone"],
  ["/policy/validFrom", "validFrom"],
  ["/policy/validUntil", "validUntil"],
];

function fieldsOf(places: FieldPointers): FieldOf {
  const longestFirst = [...places, ...fixed].toSorted(([a], [b]) => b.length - a.length);
  return (pointer) => longestFirst.find(([start]) => pointer === start || pointer.startsWith(`${start}/`))?.[1];
}
