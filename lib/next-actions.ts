import type { NextAction } from "#lib/problem.ts";

export const commonActions = {
  createMandate: { type: "create_mandate", label: "Create a mandate" },
  selectMandate: { type: "select_mandate", label: "Use another mandate" },
  raiseLimit: { type: "raise_mandate_limit", label: "Raise the mandate's limit" },
  renewMandate: { type: "renew_mandate", label: "Renew the mandate" },
  resumeMandate: { type: "resume_mandate", label: "Resume the mandate" },
  approveCheckout: { type: "approve_checkout", label: "The buyer confirms the order" },
  refreshQuote: { type: "refresh_quote", label: "Ask for a new quote" },
  otherSeller: { type: "use_other_seller", label: "Use another seller" },
  retryLater: { type: "retry_later", label: "Try again later" },
} as const satisfies Record<string, NextAction>;
