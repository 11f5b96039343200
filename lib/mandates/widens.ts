import { reaches } from "#lib/mandates/assurance.ts";
import type { AllowDeny, CompiledPolicy, Schedule } from "#lib/mandates/compile-policy.ts";

/** The rights that a mandate gives: its policy, agents and wallet. */
export type Grant = {
  readonly policy: CompiledPolicy;
  /** Null: every agent of the organization. */
  readonly agents: readonly string[] | null;
  readonly wallet: { readonly chain: string; readonly address: string } | null;
};

/** Null means that there is no limit. */
const within = (after: bigint | number | null, before: bigint | number | null): boolean =>
  before === null || (after !== null && after <= before);

/** Null means that all are allowed. */
const amongst = (after: ReadonlySet<string> | null, before: ReadonlySet<string> | null): boolean =>
  before === null || (after !== null && after.isSubsetOf(before));

const none: ReadonlySet<string> = new Set();

/** A new allow list narrows, except if its entries become exempt from the proof of their domain. */
function admitsNoMore(after: AllowDeny | null, before: AllowDeny | null, sparesProof: boolean): boolean {
  const [allowed, was] = [after?.allow ?? null, before?.allow ?? null];
  if (sparesProof && was === null && allowed !== null) return false;
  return amongst(allowed, was) && (before?.deny ?? none).isSubsetOf(after?.deny ?? none);
}

function paysNoMore(after: CompiledPolicy, before: CompiledPolicy): boolean {
  return (
    within(after.perPayment, before.perPayment) &&
    within(after.total, before.total) &&
    within(before.cooldownSeconds ?? 0, after.cooldownSeconds ?? 0) &&
    before.windows.every(({ key, limit = null, max = null }) => {
      const next = after.windows.find((window) => window.key === key);
      return within(next?.limit ?? null, limit) && within(next?.max ?? null, max);
    })
  );
}

function paysNobodyElse(after: CompiledPolicy, before: CompiledPolicy): boolean {
  const byDomain = (before.domains?.allow ?? null) !== null;
  return (
    admitsNoMore(after.sellers, before.sellers, byDomain) &&
    admitsNoMore(after.payTo, before.payTo, byDomain) &&
    admitsNoMore(after.domains, before.domains, false) &&
    amongst(after.resources, before.resources) &&
    (before.unregisteredSellers === "allow" || after.unregisteredSellers === "deny") &&
    (after.requireVerifiedSeller || !before.requireVerifiedSeller)
  );
}

function opensNoLonger(after: Schedule | null, before: Schedule | null): boolean {
  if (before === null || after?.text === before.text) return true;
  if (after?.timezone !== before.timezone || before.from >= before.to || after.from >= after.to) return false;
  return after.days.isSubsetOf(before.days) && before.from <= after.from && after.to <= before.to;
}

function asksNoLess({ approval: after, ...policy }: CompiledPolicy, { approval: before, ...was }: CompiledPolicy): boolean {
  const asks =
    before.mode === "never" ||
    after.mode === "always" ||
    (after.mode === before.mode && (after.mode !== "above" || within(after.amount, before.amount)));
  const level = was.minimumAssuranceLevel;
  return asks && (level === null || (policy.minimumAssuranceLevel !== null && reaches(policy.minimumAssuranceLevel, level)));
}

function costsNoMore({ maximumFee: after }: CompiledPolicy, { maximumFee: before }: CompiledPolicy): boolean {
  if (before === null) return true;
  if (after === null) return false;
  if ("bps" in before) return "bps" in after && after.bps <= before.bps;
  return "amount" in after && after.amount <= before.amount;
}

const lastsNoLonger = (after: CompiledPolicy, before: CompiledPolicy): boolean =>
  within(before.validFrom?.getTime() ?? 0, after.validFrom?.getTime() ?? 0) &&
  within(after.validUntil?.getTime() ?? null, before.validUntil?.getTime() ?? null);

const sameWallet = (after: Grant["wallet"], before: Grant["wallet"]): boolean =>
  after?.chain === before?.chain && after?.address === before?.address;

/** Whether a change may allow a payment that was refused before. True if in doubt. */
export function widens(after: Grant, before: Grant): boolean {
  const [next, was] = [after.policy, before.policy];
  const agents = (list: readonly string[] | null) => (list === null ? null : new Set(list));
  return !(
    paysNoMore(next, was) &&
    paysNobodyElse(next, was) &&
    opensNoLonger(next.schedule, was.schedule) &&
    asksNoLess(next, was) &&
    costsNoMore(next, was) &&
    lastsNoLonger(next, was) &&
    amongst(agents(after.agents), agents(before.agents)) &&
    sameWallet(after.wallet, before.wallet)
  );
}
