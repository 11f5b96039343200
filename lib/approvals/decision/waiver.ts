import type { Atomic } from "#lib/money.ts";
import { minutes } from "#lib/time.ts";

/** The agent must request the refused payment again within this time. */
export const WAIVER_MS = minutes(60);

/** A payment that may use a waiver reads all open ones of its mandate, so a mandate has at most this many. */
export const OPEN_WAIVERS_MAX = 100;

/** A payment with another agent, basket, amount (with the fee), payee or version of the mandate cannot use the waiver. */
export type WaiverTerms = {
  readonly mandateId: string;
  readonly policyVersion: number;
  readonly subjectId: string;
  readonly basketHash: string;
  readonly charged: Atomic;
  readonly payTo: string;
};

export type WaiverUse = { readonly waiverId: string; readonly authorizationId: string };
