import { commonActions } from "#lib/next-actions.ts";
import { Problem } from "#lib/problem.ts";

type Facts = Readonly<Record<string, unknown>>;

export const storefrontUnavailable = (detail: string): Problem =>
  new Problem("storefront_unavailable", {
    detail,
    nextActions: [commonActions.retryLater, { type: "fix_storefront", label: "Make the storefront answer", description: detail }],
  });

export const storefrontInvalid = (detail: string, metadata?: Facts): Problem =>
  new Problem("storefront_invalid", {
    detail,
    nextActions: [
      { type: "fix_storefront", label: "Correct the storefront", description: detail, ...(metadata && { metadata }) },
    ],
  });
