import type { Capability } from "#lib/vocabulary.ts";

/** The capabilities that the tools use together; a client asks for these scopes. */
export const mcpScopes: readonly Capability[] = [
  "mandates:read",
  "payments:authorize",
  "payments:execute",
  "payments:read",
  "checkouts:read",
  "checkouts:preview",
  "orders:place",
];
