import { Problem } from "#lib/problem.ts";

/** A seller that was stopped in an emergency stays stopped, under this record and under a new one. */
export const sellerStopped = (): Problem =>
  new Problem("conflict", {
    detail: "The platform stopped this seller in an emergency. It cannot be verified or registered again.",
    nextActions: [{ type: "contact_support", label: "Ask the platform's support" }],
  });
