import { coinKey, minuteOfDay } from "#lib/mandates/policy/compile-policy.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { windowOf, type Span, type Window } from "#lib/mandates/policy/windows.ts";
import { type Atomic, chainOfUnit, isUnitChain, readAmount, UNIT_DECIMALS } from "#lib/money.ts";
import type { Rail, Unit } from "#lib/vocabulary.ts";

/** The pointer is relative to the policy. */
type PolicyError = { readonly pointer: string; readonly detail: string };

/** The rails that authorizePayment serves. */
const servedRails: ReadonlySet<Rail> = new Set<Rail>(["x402", "record", "card"]);

type Terms = {
  /** Of what the limits are in: the unit, or else the asset. */
  readonly decimals: number;
  readonly served?: ReadonlySet<Rail>;
};

export function checkPolicy(policy: Policy, { decimals, served = servedRails }: Terms): PolicyError[] {
  const errors: PolicyError[] = [];
  const refuse = (pointer: string, detail: string) => void errors.push({ pointer, detail });
  checkAssets(policy, refuse);
  checkRails(policy, served, refuse);
  checkLimits(policy, decimals, refuse);
  checkApproval(policy, decimals, refuse);
  checkTimes(policy, refuse);
  if (policy.maximumFee !== undefined && "amount" in policy.maximumFee) {
    amountAt("/maximumFee/amount", policy.maximumFee.amount, decimals, refuse);
  }
  return errors;
}

type Refuse = (pointer: string, detail: string) => void;

function amountAt(pointer: string, text: string, decimals: number, refuse: Refuse): Atomic | null {
  const read = readAmount(text, decimals);
  if (read.ok) return read.amount;
  refuse(pointer, read.detail);
  return null;
}

/** A limit of zero would allow no payment; a person who wants that suspends the mandate. */
function limitAt(pointer: string, text: string, decimals: number, refuse: Refuse): Atomic | null {
  const limit = amountAt(pointer, text, decimals, refuse);
  if (limit === 0n) refuse(pointer, "A limit must be above zero.");
  return limit;
}

/** So that a mistyped rate does not count a payment as more than any budget, or as nothing. */
const RATE_MAX = 1_000_000_000n * 10n ** BigInt(UNIT_DECIMALS);

function checkAssets({ unit, assets }: Policy, refuse: Refuse): void {
  if (unit === undefined) {
    if (assets.length > 1) refuse("/assets", "Without a unit a mandate pays in one asset. Name a unit to pay in several.");
    assets.forEach(({ counts }, at) => {
      if (counts !== undefined) refuse(`/assets/${at}/counts`, "Only a mandate with a unit has rates.");
    });
    return;
  }
  const seen = new Set<string>();
  assets.forEach((entry, at) => {
    const pointer = `/assets/${at}`;
    const key = coinKey(entry.asset, entry.chain);
    if (seen.has(key)) refuse(pointer, "This asset is in the list already.");
    seen.add(key);
    checkRate(unit, entry, `${pointer}/counts`, refuse);
  });
}

function checkRate(unit: Unit, { asset, chain, counts }: Policy["assets"][number], pointer: string, refuse: Refuse): void {
  if (counts === undefined) return refuse(pointer, `Write what one ${asset} counts as in ${unit}.`);
  const rate = readAmount(counts, UNIT_DECIMALS);
  if (!rate.ok) return refuse(pointer, `Write a decimal number with at most ${UNIT_DECIMALS} decimals, such as 1.12.`);
  if (rate.amount === 0n) return refuse(pointer, "An asset must count as more than zero.");
  if (rate.amount > RATE_MAX) return refuse(pointer, "This is too large for what one asset counts as.");
  const isSame = asset === unit && chain === chainOfUnit(unit);
  if (isSame && rate.amount !== 10n ** BigInt(UNIT_DECIMALS)) refuse(pointer, `What is paid in ${unit} counts as 1.`);
}

const CURRENCY = {
  unit: "Set the limits in USD or EUR.",
  asset: "Add USD or EUR to the assets.",
} as const;

const inCurrency: Partial<Record<Rail, string>> = { record: "Payments that are made elsewhere", card: "Payments by card" };

function checkRails({ unit, assets, rails = [], records, cards }: Policy, served: ReadonlySet<Rail>, refuse: Refuse): void {
  rails.forEach((rail, at) => {
    if (!served.has(rail)) refuse(`/rails/${at}`, "This service does not serve such payments yet.");
    if (rails.indexOf(rail) < at) refuse(`/rails/${at}`, "This rail is in the list already.");
    const payments = inCurrency[rail];
    if (payments !== undefined && !assets.some(({ chain }) => isUnitChain(chain)))
      refuse(`/rails/${at}`, `${payments} are in a currency. ${CURRENCY[unit === undefined ? "unit" : "asset"]}`);
  });
  if (records !== undefined && !rails.includes("record")) refuse("/records", "Only the rail record has rules for records.");
  if (cards !== undefined && !rails.includes("card")) refuse("/cards", "Only the rail card has rules for cards.");
}

function checkLimits({ limits }: Policy, decimals: number, refuse: Refuse): void {
  const { budgets = [], counts = [] } = limits;
  const perPayment = limitAt("/limits/perPayment", limits.perPayment, decimals, refuse);
  const total = limits.total === undefined ? null : limitAt("/limits/total", limits.total, decimals, refuse);
  if (limits.total === undefined && budgets.length === 0) refuse("/limits", "Set a total or at least one budget.");
  if (total !== null && perPayment !== null && perPayment > total) {
    refuse("/limits/perPayment", "The limit per payment is larger than the total.");
  }
  const read = budgets.map((budget, index) => {
    const pointer = `/limits/budgets/${index}`;
    const amount = limitAt(`${pointer}/amount`, budget.amount, decimals, refuse);
    if (total !== null && amount !== null && amount > total) refuse(`${pointer}/amount`, "The budget is larger than the total.");
    return { pointer, amount, window: windowOf(budget) };
  });
  checkOrder(read, refuse);
  checkDuplicates("/limits/budgets", budgets, refuse);
  checkDuplicates("/limits/counts", counts, refuse);
}

function checkDuplicates(pointer: string, entries: readonly Span[], refuse: Refuse): void {
  const seen = new Set<string>();
  entries.forEach((entry, index) => {
    const { key } = windowOf(entry);
    if (seen.has(key)) refuse(`${pointer}/${index}`, "This window is in the list already.");
    seen.add(key);
  });
}

const periods = ["day", "week", "month", "year"];

/** Only windows of the same kind are compared, and calendar windows only in the same zone. */
function isShorter(a: Window, b: Window): boolean {
  if (a.kind === "calendar" && b.kind === "calendar") {
    return a.timezone === b.timezone && periods.indexOf(a.period) < periods.indexOf(b.period);
  }
  return a.kind === "rolling" && b.kind === "rolling" && a.spanMs < b.spanMs;
}

type ReadBudget = { readonly pointer: string; readonly amount: Atomic | null; readonly window: Window };

function checkOrder(budgets: readonly ReadBudget[], refuse: Refuse): void {
  for (const short of budgets) {
    const tighter = budgets.some(
      (long) =>
        short.amount !== null && long.amount !== null && isShorter(short.window, long.window) && short.amount > long.amount,
    );
    if (tighter) refuse(`${short.pointer}/amount`, "The budget is larger than that of a longer window.");
  }
}

function checkApproval({ approval }: Policy, decimals: number, refuse: Refuse): void {
  if (approval === undefined) return;
  const { mode, amount } = approval;
  if (mode === "above" && amount === undefined) refuse("/approval/amount", "The mode above needs an amount.");
  if (mode !== "above" && amount !== undefined) refuse("/approval/amount", "Only the mode above takes an amount.");
  if (amount !== undefined) amountAt("/approval/amount", amount, decimals, refuse);
}

function checkTimes({ schedule, validFrom, validUntil }: Policy, refuse: Refuse): void {
  if (validFrom !== undefined && validUntil !== undefined && Date.parse(validFrom) >= Date.parse(validUntil)) {
    refuse("/validUntil", "The mandate must end after it begins.");
  }
  if (schedule === undefined) return;
  if (minuteOfDay(schedule.from) >= minuteOfDay(schedule.to)) {
    refuse("/schedule/to", "The end must be after the beginning, on the same day. Midnight at the end is 24:00.");
  }
  const seen = new Set<string>();
  schedule.days.forEach((day, index) => {
    if (seen.has(day)) refuse(`/schedule/days/${index}`, "This day is in the list already.");
    seen.add(day);
  });
}
