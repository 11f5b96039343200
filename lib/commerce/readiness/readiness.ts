import type { ReadinessCheck } from "#lib/commerce/readiness/readiness-schema.ts";
import { denialActions } from "#lib/mandates/policy/denials.ts";
import type { Decision, Reason } from "#lib/mandates/policy/facts.ts";
import { withMandatePages } from "#lib/mandates/mandate-links.ts";
import { commonActions } from "#lib/next-actions.ts";
import { Problem, problemBody, type NextAction } from "#lib/problem.ts";
import { ReadinessKey, type ReadinessCheckStatus, type ReadinessStatus } from "#lib/vocabulary.ts";

type Key = ReadinessKey;

export type Check = {
  readonly key: Key;
  readonly status: ReadinessCheckStatus;
  readonly message: string;
  readonly problem?: Problem;
  readonly nextActions?: readonly NextAction[];
};

export const ready = (key: Key, message: string): Check => ({ key, status: "ready", message });
export const skipped = (key: Key, message: string): Check => ({ key, status: "skipped", message });
export const unknown = (key: Key, message: string, ...nextActions: NextAction[]): Check => ({
  key,
  status: "unknown",
  message,
  nextActions,
});

export const failing = (key: Key, problem: Problem, status: "blocked" | "actionRequired" = "blocked"): Check => ({
  key,
  status,
  message: problem.details.detail,
  problem,
  nextActions: problem.details.nextActions ?? [],
});

const order = new Map<string, number>(ReadinessKey.options.map((key, index) => [key, index]));

export const presentChecks = (found: readonly Check[], requestId: string): ReadinessCheck[] =>
  found
    .toSorted((a, b) => (order.get(a.key) ?? 0) - (order.get(b.key) ?? 0))
    .map(({ key, status, message, problem, nextActions }) => ({
      key,
      status,
      message,
      ...(problem && { problem: problemBody(problem, requestId) }),
      nextActions: [...(nextActions ?? [])],
    }));

/** A check whose status is unknown counts as "actionRequired", and a skipped check as "ready". */
export function overallStatus(checks: readonly { readonly status: ReadinessCheckStatus }[]): ReadinessStatus {
  if (checks.some(({ status }) => status === "blocked")) return "blocked";
  return checks.some(({ status }) => status === "actionRequired" || status === "unknown") ? "actionRequired" : "ready";
}

/** Each action once; an action is blocking if one of the checks that name it is blocked. */
export function requiredActions(checks: readonly Pick<ReadinessCheck, "status" | "nextActions">[]) {
  const actions = new Map<string, NextAction & { blocking: boolean }>();
  for (const { status, nextActions } of checks) {
    if (status === "ready" || status === "skipped") continue;
    for (const action of nextActions) {
      const key = `${action.type} ${action.href ?? ""} ${action.label}`;
      const blocking = status === "blocked" || (actions.get(key)?.blocking ?? false);
      actions.set(key, { ...action, blocking });
    }
  }
  return [...actions.values()];
}

/** The rules of the policy that decide each readiness check. */
const rulesOf: Readonly<Partial<Record<Key, readonly string[]>>> = {
  emergencyClear: ["emergency"],
  mandateActive: ["status", "validFrom", "validUntil"],
  mandateAgentBound: ["agents", "agent"],
  mandateBudget: ["limits.perPayment", "limits.total", "limits.budgets", "limits.counts", "limits.cooldownSeconds", "maximumFee"],
  mandateSellerAllowed: ["sellers", "domains", "payTo", "requireVerifiedSeller"],
  mandateResourceAllowed: ["resources", "protocol", "intent.registration", "intent.challenge"],
  mandateAssetAllowed: ["assets"],
  mandateSchedule: ["schedule"],
  assuranceLevel: ["minimumAssuranceLevel"],
};

const satisfied: Readonly<Partial<Record<Key, string>>> = {
  emergencyClear: "No mandate, agent or seller of this payment was stopped in an emergency.",
  mandateActive: "The mandate is active.",
  mandateAgentBound: "This agent may use the mandate.",
  mandateBudget: "The mandate's limits have room for this payment.",
  mandateSellerAllowed: "The mandate's policy admits this seller.",
  mandateResourceAllowed: "The mandate's policy admits what is bought.",
  mandateAssetAllowed: "The mandate pays in this asset on this chain.",
  mandateSchedule: "The mandate's policy allows payments now.",
  assuranceLevel: "The assurance that is asked for can be reached.",
};

type Pages = { readonly baseUrl: string; readonly mandateId: string };

function denied(key: Key, [{ code, message }, ...more]: readonly [Reason, ...Reason[]], { baseUrl, mandateId }: Pages): Check {
  const detail = [message, ...more.map((reason) => reason.message)].join(" ");
  const details = { detail, nextActions: withMandatePages(denialActions(code), baseUrl, mandateId) };
  if (code === "mandate_revoked") return failing(key, new Problem("mandate_revoked", details));
  if (key === "mandateActive") return failing(key, new Problem("mandate_not_active", details));
  return failing(key, new Problem("policy_denied", details));
}

const aboutSeller = new Set<Key>(["emergencyClear", "mandateSellerAllowed", "mandateResourceAllowed"]);

export type PolicyResult = {
  readonly decision: Decision;
  /** If it is false, the checks about the seller are unknown. */
  readonly sellerKnown: boolean;
  /** If it is false, the limits are not checked. */
  readonly amountKnown: boolean;
  readonly pages: Pages;
};

export function policyChecks({ decision, sellerKnown, amountKnown, pages }: PolicyResult): Check[] {
  const checks: Check[] = [];
  for (const [name, rules] of Object.entries(rulesOf)) {
    const key = name as Key;
    if (aboutSeller.has(key) && !sellerKnown) {
      checks.push(unknown(key, "The storefront must answer before anything can be said about it."));
      continue;
    }
    if (key === "mandateBudget" && !amountKnown) {
      checks.push(skipped(key, "No amount was named, and nothing was quoted."));
      continue;
    }
    const [first, ...more] = decision.reasons.filter(({ rule, effect }) => effect === "deny" && rules.includes(rule));
    checks.push(first ? denied(key, [first, ...more], pages) : ready(key, satisfied[key] ?? ""));
  }
  return [...checks, approvalCheck(decision, sellerKnown && amountKnown)];
}

function approvalCheck({ reasons }: Decision, known: boolean): Check {
  const asked = reasons.find(({ code }) => code === "approval_required");
  if (!known) return skipped("approvalNeeded", "It depends on the seller and the amount.");
  if (!asked) return ready("approvalNeeded", "No person has to be asked.");
  const details = { detail: asked.message, nextActions: [commonActions.approveCheckout] };
  return failing("approvalNeeded", new Problem("approval_required", details), "actionRequired");
}
