import type { ApprovalRequest } from "#lib/mandates/policy/facts.ts";
import { commonActions } from "#lib/next-actions.ts";
import { Problem } from "#lib/problem.ts";
import type { ReservationStatus } from "#lib/vocabulary.ts";

/** The checkout in which a person is asked about this payment, and the person's decision if there is one. */
export type ApprovalState = {
  readonly checkout: { readonly status: string; readonly expiresAt: Date };
  readonly approval: {
    readonly status: string;
    readonly expiresAt: Date;
    readonly takenBackBySubjectId: string | null;
  } | null;
};

export type ExecutionFacts = {
  readonly subjectId: string;
  readonly authorization: {
    readonly authorizationId: string;
    readonly subjectId: string;
    readonly outcome: string;
    readonly expiresAt: Date;
  };
  readonly hold: { readonly status: string; readonly expiresAt: Date } | null;
  readonly approved: ApprovalState | null;
  /** The link to the checkout in which a person is asked; empty if no person is asked. */
  readonly asking: ApprovalRequest;
  /** The id of an earlier authorization in whose checkout a person is asked about this payment too; null if there is none. */
  readonly askedBy: string | null;
  readonly hasLiveExecution: boolean;
};

/** Call it again while the mandate is locked, because the facts may change until then. @throws Problem */
export function requireExecutable(facts: ExecutionFacts, now: Date): void {
  const { subjectId, authorization, hold, hasLiveExecution, approved, asking, askedBy } = facts;
  if (authorization.subjectId !== subjectId)
    throw new Problem("forbidden", { detail: "Only the subject that authorized this payment may execute it." });
  if (authorization.outcome === "deny")
    throw new Problem("policy_denied", { detail: "The mandate's policy denied this payment. Read the authorization's reasons." });
  if (approved) requireApproved(approved, asking, now);
  else if (authorization.outcome === "requireApproval") throw approvalRequired(asking, askedBy);
  const status = hold?.status as ReservationStatus | undefined;
  const expired = status === "expired" || (status === "held" && (approved && hold ? hold : authorization).expiresAt <= now);
  if (!hasLiveExecution && expired)
    throw new Problem("authorization_expired", {
      detail: "This authorization has expired. Nothing was paid. Authorize the payment again, under a new idempotency key.",
    });
  if (hasLiveExecution) throw executedAlready(authorization);
  if (status !== "held")
    throw new Problem("authorization_consumed", {
      detail:
        "This authorization has ended: its payment failed, or the buyer canceled it, and its budget is free again. Authorize the payment again, under a new idempotency key.",
    });
}

/** The text must not tell a client that lost the reply to authorize again, because this would be a second payment. */
const executedAlready = ({ authorizationId }: ExecutionFacts["authorization"]): Problem =>
  new Problem("authorization_consumed", {
    detail:
      "This authorization was executed under another idempotency key. Read the payment: its execution has the credentialHeaders. A new authorization would be a second payment.",
    nextActions: [
      {
        type: "poll_status",
        label: "Read the payment and its executions",
        metadata: { pollWith: { method: "GET", path: `/api/v1/payments/${authorizationId}` } },
      },
    ],
  });

const approvalRequired = ({ href, checkoutIntentId, pollWith }: ApprovalRequest, askedBy: string | null = null): Problem =>
  new Problem("approval_required", {
    detail:
      askedBy === null
        ? `A person of the buyer must approve this payment first${href === undefined ? "" : `, at ${href}`}.`
        : `The buyer is asked about this payment under authorization ${askedBy}. Execute that one once it is approved.`,
    nextActions: [
      {
        type: "approve_checkout",
        label: "Ask the buyer to approve",
        ...(href !== undefined && { href }),
        metadata: {
          ...(checkoutIntentId !== undefined && { checkoutIntentId }),
          ...(pollWith && { pollWith }),
          ...(askedBy !== null && { authorizationId: askedBy }),
        },
      },
    ],
  });

/** The agent may ask again: only a rejection, or taking back an approval, is final. */
const approvalExpired = (): Problem =>
  new Problem("approval_expired", {
    detail:
      "Nobody decided about this payment in time. Nobody declined it, and nothing was paid. To ask again, authorize the payment again, under a new idempotency key.",
    nextActions: [{ type: "retry_later", label: "Authorize the payment again, under a new idempotency key" }],
  });

export const approvalTakenBack = (): Problem =>
  new Problem("approval_revoked", {
    detail: "The buyer took the approval back before it was used. Nothing was paid. Do not ask for the same purchase again.",
    nextActions: [commonActions.otherSeller],
  });

function requireApproved({ checkout, approval }: ApprovalState, asking: ApprovalRequest, now: Date): void {
  if (approval?.status === "rejected")
    throw new Problem("approval_rejected", { detail: "The buyer declined this payment. Nothing was paid. Pay another seller." });
  if (approval && approval.takenBackBySubjectId !== null) throw approvalTakenBack();
  if (!approval && checkout.status === "awaiting_approval" && checkout.expiresAt > now) throw approvalRequired(asking);
  if (!approval && (checkout.status === "awaiting_approval" || checkout.status === "expired")) throw approvalExpired();
  if (checkout.status === "canceled")
    throw new Problem("authorization_expired", {
      detail:
        "This request was canceled before it was paid. Nothing was paid. If the payment is still wanted, authorize it again, under a new idempotency key.",
    });
  if (approval?.status === "consumed" || (approval?.status === "pending" && approval.expiresAt > now)) return;
  throw new Problem("authorization_expired", {
    detail:
      "The time to approve this payment, or to use its approval, has passed. Authorize the payment again, under a new idempotency key.",
  });
}

export const changedMandate = ({ message }: { readonly message: string }): Problem =>
  new Problem("policy_denied", {
    detail: `The mandate was changed after this payment was authorized, and no longer allows it. ${message}`,
    nextActions: [{ type: "select_mandate", label: "Pay under another mandate" }, commonActions.otherSeller],
  });

/** `archived`: the resource is no longer offered. `stopped`: an administrator's emergency stop ended the seller's payments. */
export type SellerState = "offering" | "archived" | "stopped";

export type StatusFacts = {
  readonly mandate: { readonly status: string; readonly agents: readonly string[] | null } | null;
  readonly subjectId: string;
  readonly callerIsLive: boolean;
  readonly seller: SellerState;
};

/** Read `facts` after enterGate, which locks revocations out, so that none is missed. @throws Problem */
export function requireRights({ mandate, subjectId, callerIsLive, seller }: StatusFacts): void {
  if (!callerIsLive)
    throw new Problem("forbidden", {
      detail:
        "The credential of this request was revoked, its agent was paused, or its person lost the right to pay. Ask again with a valid one.",
    });
  if (mandate?.status === "revoked")
    throw new Problem("mandate_revoked", { detail: "The mandate of this payment was revoked. Authorize it under another one." });
  if (mandate?.status !== "active")
    throw new Problem("mandate_not_active", {
      detail: "The mandate of this payment is not active. Ask the buyer to make it active again.",
    });
  if (mandate.agents !== null && !mandate.agents.includes(subjectId))
    throw new Problem("policy_denied", {
      detail: "This agent no longer belongs to the mandate. Ask the buyer to add it, and authorize again.",
    });
  if (seller === "stopped")
    throw new Problem("emergency_stop", {
      detail: "The platform stopped this seller in an emergency. Nothing was paid. Pay another seller.",
    });
  if (seller === "archived")
    throw new Problem("policy_denied", { detail: "The seller no longer offers this resource. Authorize what it offers now." });
}
