import { reaches } from "#lib/mandates/policy/assurance.ts";
import type { AllowDeny, CompiledPolicy, Schedule } from "#lib/mandates/policy/compile-policy.ts";

export type Grant = {
  readonly policy: CompiledPolicy;
  /** Null for every agent of the organization. */
  readonly agents: readonly string[] | null;
  readonly wallet: { readonly chain: string; readonly address: string } | null;
};

/** Null means that there is no limit. */
const within = (next: bigint | number | null, current: bigint | number | null): boolean =>
  current === null || (next !== null && next <= current);

/** Null means that all are allowed. */
const amongst = (next: ReadonlySet<string> | null, current: ReadonlySet<string> | null): boolean =>
  current === null || (next !== null && next.isSubsetOf(current));

const none: ReadonlySet<string> = new Set();

/** With `sparesProof`, a new allow list admits more, because its entries need not prove their domain. */
function admitsNoMore(next: AllowDeny | null, current: AllowDeny | null, sparesProof: boolean): boolean {
  const [allowed, was] = [next?.allow ?? null, current?.allow ?? null];
  if (sparesProof && was === null && allowed !== null) return false;
  return amongst(allowed, was) && (current?.deny ?? none).isSubsetOf(next?.deny ?? none);
}

function paysNoMore(next: CompiledPolicy, current: CompiledPolicy): boolean {
  return (
    within(next.perPayment, current.perPayment) &&
    within(next.total, current.total) &&
    within(current.cooldownSeconds ?? 0, next.cooldownSeconds ?? 0) &&
    current.windows.every(({ key, limit = null, max = null }) => {
      const match = next.windows.find((window) => window.key === key);
      return within(match?.limit ?? null, limit) && within(match?.max ?? null, max);
    })
  );
}

function paysNobodyElse(next: CompiledPolicy, current: CompiledPolicy): boolean {
  const byDomain = (current.domains?.allow ?? null) !== null;
  return (
    admitsNoMore(next.sellers, current.sellers, byDomain) &&
    admitsNoMore(next.payTo, current.payTo, byDomain) &&
    admitsNoMore(next.domains, current.domains, false) &&
    amongst(next.resources, current.resources) &&
    (current.unregisteredSellers === "allow" || next.unregisteredSellers === "deny") &&
    (next.requireVerifiedSeller || !current.requireVerifiedSeller)
  );
}

/** An asset that counts as less lets more of it be spent. */
function countsNoLess({ rates: next }: CompiledPolicy, { rates: current }: CompiledPolicy): boolean {
  if (next === null || current === null) return next === current;
  return [...next].every(([coin, rate]) => within(current.get(coin) ?? rate + 1n, rate));
}

function admitsNoOtherRail(next: CompiledPolicy, current: CompiledPolicy): boolean {
  if (!next.rails.isSubsetOf(current.rails) || (next.rails.has("card") && !paysNoOtherMerchant(next, current))) return false;
  if (!next.rails.has("record")) return true;
  const [records, were] = [next.records, current.records];
  return amongst(records.payees, were.payees) && within(records.deadlineMs, were.deadlineMs) && (records.asks || !were.asks);
}

const paysNoOtherMerchant = ({ cards: next }: CompiledPolicy, { cards: current }: CompiledPolicy): boolean =>
  next.asks ||
  (!current.asks &&
    amongst(next.categories, current.categories) &&
    amongst(next.countries, current.countries) &&
    amongst(next.merchants, current.merchants));

function opensNoLonger(next: Schedule | null, current: Schedule | null): boolean {
  if (current === null || next?.text === current.text) return true;
  if (next?.timezone !== current.timezone || current.from >= current.to || next.from >= next.to) return false;
  return next.days.isSubsetOf(current.days) && current.from <= next.from && next.to <= current.to;
}

function asksNoLess({ approval: next, ...policy }: CompiledPolicy, { approval: current, ...was }: CompiledPolicy): boolean {
  const asks =
    current.mode === "never" ||
    next.mode === "always" ||
    (next.mode === current.mode && (next.mode !== "above" || within(next.amount, current.amount)));
  const level = was.minimumAssuranceLevel;
  return asks && (level === null || (policy.minimumAssuranceLevel !== null && reaches(policy.minimumAssuranceLevel, level)));
}

function costsNoMore({ maximumFee: next }: CompiledPolicy, { maximumFee: current }: CompiledPolicy): boolean {
  if (current === null) return true;
  if (next === null) return false;
  if ("bps" in current) return "bps" in next && next.bps <= current.bps;
  return "amount" in next && next.amount <= current.amount;
}

const lastsNoLonger = (next: CompiledPolicy, current: CompiledPolicy): boolean =>
  within(current.validFrom?.getTime() ?? 0, next.validFrom?.getTime() ?? 0) &&
  within(next.validUntil?.getTime() ?? null, current.validUntil?.getTime() ?? null);

const sameWallet = (next: Grant["wallet"], current: Grant["wallet"]): boolean =>
  next?.chain === current?.chain && next?.address === current?.address;

/** Whether a change may allow a payment that was refused, or that a person was asked about; true if in doubt. */
export function widens(next: Grant, current: Grant): boolean {
  const [policy, was] = [next.policy, current.policy];
  const agents = (list: readonly string[] | null) => (list === null ? null : new Set(list));
  return !(
    paysNoMore(policy, was) &&
    paysNobodyElse(policy, was) &&
    countsNoLess(policy, was) &&
    admitsNoOtherRail(policy, was) &&
    opensNoLonger(policy.schedule, was.schedule) &&
    asksNoLess(policy, was) &&
    costsNoMore(policy, was) &&
    lastsNoLonger(policy, was) &&
    amongst(agents(next.agents), agents(current.agents)) &&
    sameWallet(next.wallet, current.wallet)
  );
}
