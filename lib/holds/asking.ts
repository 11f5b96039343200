import type { Reason } from "#lib/mandates/facts.ts";

/** The checkout that asks a person, the call that returns the person's answer, and the agent's next call. */
export type Asking = Pick<Reason, "href" | "checkoutIntentId" | "pollWith" | "next">;
