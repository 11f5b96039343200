import { createHash } from "node:crypto";
import type { CardMerchant } from "#lib/mandates/policy/facts.ts";
import { add, type Atomic } from "#lib/money.ts";
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

/** The card must be used again within this time. */
export const CLEARANCE_MS = minutes(30);

/** Stands for a basket: a clearance is for one card at one merchant, in one currency. */
export const clearanceHash = (cardId: string, asset: string, { category, country, merchant }: CardMerchant): string =>
  createHash("sha256")
    .update(JSON.stringify(["clearance", cardId, asset, category, country, merchant]))
    .digest("hex");

/** A clearance is for a tenth more too, as a merchant adds a tip or shipping. */
export const clearedMost = (amount: Atomic): Atomic => add(amount, (amount / 10n) as Atomic);

/** Up to a tenth more or less than the purchase that was declined. */
export const fitsClearance = (most: Atomic, amount: Atomic): boolean => amount <= most && amount * 11n >= most * 9n;

export type WaiverUse = { readonly waiverId: string; readonly authorizationId: string };
