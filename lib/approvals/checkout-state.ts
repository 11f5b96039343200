import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** The statuses of a checkout that waits for a person's decision. */
export const openStatuses = ["previewed", "awaiting_approval"] as const satisfies readonly CheckoutStatus[];
export const isOpen = (status: CheckoutStatus): boolean => (openStatuses as readonly CheckoutStatus[]).includes(status);
