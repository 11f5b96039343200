import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { pollCheckout } from "#lib/approvals/poll-checkout.ts";
import { commonActions } from "#lib/next-actions.ts";
import { Problem } from "#lib/problem.ts";

/* Limits how often an agent may ask people, because people who are asked too often may approve without reading. */

export const OPEN_MOST = 10;
export const HOUR_MOST = 30;
/** If this many requests with one basket, mandate and purpose expire within a day, no payment asks again for an hour. */
export const ASKED_MOST = 2;

export type AgentRequests = {
  readonly open: number;
  /** Requests that were opened in the last hour. */
  readonly lately: number;
  /** The id of the oldest request that waits for a person. */
  readonly oldest: string | null;
  /** When HOUR_MOST allows the next request; null if the stored requests of the last hour do not reach it. */
  readonly freeAt: Date | null;
};

/** In the last hour. "declined": a person declined the basket or took its approval back. "unanswered": see ASKED_MOST. */
export type Remembered = "declined" | "unanswered";

export type Agent = Pick<CheckoutRow, "organizationId" | "ownerSubjectId">;

export const agentKey = ({ organizationId, ownerSubjectId }: Agent): string => `${organizationId} ${ownerSubjectId}`;

/** @throws Problem approval_limit_reached */
export function requireRoom({ open, lately, oldest, freeAt }: AgentRequests, now: Date): void {
  if (open >= OPEN_MOST) {
    throw new Problem("approval_limit_reached", {
      detail: `${open} requests of this agent already wait for a person. Nothing was opened. Wait until people have decided, or cancel a request.`,
      nextActions: [
        {
          type: "poll_status",
          label: "Wait for the decision about the oldest request",
          ...(oldest !== null && { metadata: { checkoutIntentId: oldest, pollWith: pollCheckout(oldest) } }),
        },
      ],
    });
  }
  if (lately >= HOUR_MOST) {
    const seconds = freeAt ? Math.ceil((freeAt.getTime() - now.getTime()) / 1_000) : 60;
    throw new Problem("approval_limit_reached", {
      detail: `This agent has asked people ${lately} times within an hour. Nothing was opened. Ask again later, under the same idempotency key.`,
      nextActions: [commonActions.retryLater],
      retryAfterSeconds: Math.max(1, seconds),
    });
  }
}

export const withOpened = (
  { open, lately, oldest, freeAt }: AgentRequests,
  { checkoutIntentId }: Pick<CheckoutRow, "checkoutIntentId">,
): AgentRequests => ({ open: open + 1, lately: lately + 1, oldest: oldest ?? checkoutIntentId, freeAt });
