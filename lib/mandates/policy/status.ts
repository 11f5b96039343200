import type { CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { Usage } from "#lib/mandates/policy/facts.ts";
import { Problem } from "#lib/problem.ts";
import type { MandateStatus, StoredMandateStatus } from "#lib/vocabulary.ts";

/** A mandate whose stored status is active may be expired or exhausted. */
export function statusOf(
  stored: StoredMandateStatus,
  policy: CompiledPolicy,
  { spent, reserved }: Pick<Usage, "spent" | "reserved">,
  now: Date,
): MandateStatus {
  if (stored !== "active") return stored;
  if (policy.validUntil !== null && now.getTime() >= policy.validUntil.getTime()) return "expired";
  if (policy.total !== null && spent + reserved >= policy.total) return "exhausted";
  return "active";
}

export type Step = "activate" | "suspend" | "resume" | "revoke";

const steps: Record<
  Step,
  { readonly from: readonly StoredMandateStatus[]; readonly to: StoredMandateStatus; readonly event: string }
> = {
  activate: { from: ["draft"], to: "active", event: "mandate.activated" },
  suspend: { from: ["active"], to: "suspended", event: "mandate.suspended" },
  resume: { from: ["suspended"], to: "active", event: "mandate.resumed" },
  revoke: { from: ["draft", "active", "suspended"], to: "revoked", event: "mandate.revoked" },
};

/** Null if the mandate already has that status, so repeating a step is safe. @throws Problem conflict */
export function stepFrom(
  status: StoredMandateStatus,
  step: Step,
): { readonly to: StoredMandateStatus; readonly event: string } | null {
  const { from, to, event } = steps[step];
  if (status === to) return null;
  if (from.includes(status)) return { to, event };
  const allowed = from.map((one) => named[one]).join(" or ");
  throw new Problem("conflict", {
    detail: `This is ${named[status]}, and only ${allowed} can be ${event.slice("mandate.".length)}.`,
  });
}

const named: Record<StoredMandateStatus, string> = {
  draft: "a draft",
  active: "an active mandate",
  suspended: "a suspended mandate",
  revoked: "a revoked mandate",
};
