import type { Atomic } from "#lib/money.ts";
import { minutes } from "#lib/time.ts";

/** A waiver can be used for this long. The agent has to ask again in this time. */
export const WAIVER_MS = minutes(60);

/** The payment that a waiver admits, and no other: the agent, the basket, the amount with the fee, the payee, and the mandate's version. */
export type WaiverTerms = {
  readonly mandateId: string;
  readonly policyVersion: number;
  readonly subjectId: string;
  readonly basketHash: string;
  readonly charged: Atomic;
  readonly payTo: string;
};

/** The use of a waiver by an authorization. */
export type WaiverUse = { readonly waiverId: string; readonly authorizationId: string };
