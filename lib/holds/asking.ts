import type { Reason } from "#lib/mandates/facts.ts";

/** Where a person is asked, and how an agent learns what the person said and goes on. */
export type Asking = Pick<Reason, "href" | "checkoutIntentId" | "pollWith" | "next">;
