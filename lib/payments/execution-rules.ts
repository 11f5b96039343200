import { Problem } from "#lib/problem.ts";
import type { ReservationStatus } from "#lib/vocabulary.ts";

export type ExecutionFacts = {
  readonly subjectId: string;
  readonly authorization: { readonly subjectId: string; readonly outcome: string; readonly expiresAt: Date };
  readonly hold: { readonly status: string } | null;
  readonly hasLiveExecution: boolean;
};

/**
 * Whether an authorization may be executed now, as far as it alone tells. Asked before anything is verified, and again
 * under the locks.
 * @throws Problem forbidden, policy_denied, approval_required, authorization_consumed, authorization_expired
 */
export function requireExecutable({ subjectId, authorization, hold, hasLiveExecution }: ExecutionFacts, now: Date): void {
  if (authorization.subjectId !== subjectId)
    throw new Problem("forbidden", { detail: "Only the subject that authorized this payment may execute it." });
  if (authorization.outcome === "deny")
    throw new Problem("policy_denied", { detail: "The mandate's policy denied this payment. Read the authorization's reasons." });
  if (authorization.outcome === "requireApproval")
    throw new Problem("approval_required", { detail: "A person of the buyer must approve this payment first." });
  const status = hold?.status as ReservationStatus | undefined;
  const expired = status === "expired" || (status === "held" && authorization.expiresAt <= now);
  if (!hasLiveExecution && expired)
    throw new Problem("authorization_expired", { detail: "This authorization has expired. Authorize the payment again." });
  if (hasLiveExecution || status !== "held")
    throw new Problem("authorization_consumed", {
      detail: "This authorization was executed. Read its executions, or authorize again.",
    });
}

export type StatusFacts = {
  readonly mandate: { readonly status: string; readonly agents: readonly string[] | null } | null;
  readonly subjectId: string;
  readonly callerIsLive: boolean;
  readonly resourceIsOffered: boolean;
};

/**
 * Rights that a revocation takes away, read after the gate.
 * @throws Problem forbidden, mandate_revoked, mandate_not_active, policy_denied
 */
export function requireRights({ mandate, subjectId, callerIsLive, resourceIsOffered }: StatusFacts): void {
  if (!callerIsLive) throw new Problem("forbidden", { detail: "The credential of this request was revoked." });
  if (mandate?.status === "revoked") throw new Problem("mandate_revoked", { detail: "The mandate of this payment was revoked." });
  if (mandate?.status !== "active")
    throw new Problem("mandate_not_active", { detail: "The mandate of this payment is not active." });
  if (mandate.agents !== null && !mandate.agents.includes(subjectId))
    throw new Problem("policy_denied", { detail: "This agent no longer belongs to the mandate." });
  if (!resourceIsOffered) throw new Problem("policy_denied", { detail: "The seller no longer offers this resource." });
}
