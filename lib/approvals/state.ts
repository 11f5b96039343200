import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** The listed transitions; the database refuses every other one. */
export const transitions: Readonly<Record<CheckoutStatus, readonly CheckoutStatus[]>> = {
  previewed: ["awaiting_approval", "rejected", "expired", "canceled", "superseded"],
  awaiting_approval: ["approved", "rejected", "expired", "canceled", "superseded"],
  approved: ["authorized", "expired", "canceled", "superseded", "failed"],
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

/** Nobody has decided yet. */
export const openStatuses = ["previewed", "awaiting_approval"] as const satisfies readonly CheckoutStatus[];
export const isOpen = (status: CheckoutStatus): boolean => (openStatuses as readonly CheckoutStatus[]).includes(status);
