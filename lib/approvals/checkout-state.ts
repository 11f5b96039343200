import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** The changes of status that are allowed. A trigger in the database refuses all others too. */
export const transitions: Readonly<Record<CheckoutStatus, readonly CheckoutStatus[]>> = {
  previewed: ["awaiting_approval", "rejected", "expired", "canceled", "superseded"],
  awaiting_approval: ["approved", "rejected", "expired", "canceled", "superseded"],
  approved: ["authorized", "rejected", "expired", "canceled", "superseded", "failed"],
  authorized: ["executing", "expired", "superseded", "failed"],
  executing: ["completed", "failed"],
  completed: [],
  rejected: [],
  expired: [],
  canceled: [],
  failed: [],
  superseded: [],
};

export const mayBecome = (from: CheckoutStatus, to: CheckoutStatus): boolean => transitions[from].includes(to);

/** The statuses of a checkout that nobody has decided yet. */
export const openStatuses = ["previewed", "awaiting_approval"] as const satisfies readonly CheckoutStatus[];
export const isOpen = (status: CheckoutStatus): boolean => (openStatuses as readonly CheckoutStatus[]).includes(status);
