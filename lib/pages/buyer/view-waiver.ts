import { waiverOf, waiverUsedBy } from "#lib/approvals/decision/waiver-store.ts";
import type { Tx } from "#lib/db/client.ts";
import { subjectNames } from "#lib/identity/subject-name-store.ts";
import { toWire } from "#lib/time.ts";

/** `by` is untrusted text. */
export type AllowedOnce = {
  readonly by: string;
  readonly at: string;
  readonly expiresAt: string;
  /** The authorizationId of the payment that used the waiver; null if none did. */
  readonly usedBy: string | null;
  readonly state: "open" | "used" | "ended";
};

type Decided = { readonly authorizationId: string; readonly organizationId: string; readonly outcome: string };

/**
 * For a refused payment, the waiver that allowed it once; for any other payment, the waiver that it used; null if none.
 * `version` is the mandate's current version.
 */
export async function allowedOnce(tx: Tx, payment: Decided, version: number, now: Date): Promise<AllowedOnce | null> {
  const { authorizationId, organizationId, outcome } = payment;
  const row = await (outcome === "deny" ? waiverOf : waiverUsedBy)(tx, authorizationId);
  if (!row) return null;
  const { grantedBySubjectId, createdAt, expiresAt, usedByAuthorizationId: usedBy, policyVersion } = row;
  const names = await subjectNames(tx, organizationId, [grantedBySubjectId]);
  const isOpen = expiresAt > now && policyVersion === version;
  return {
    by: names.get(grantedBySubjectId) ?? grantedBySubjectId,
    at: toWire(createdAt),
    expiresAt: toWire(expiresAt),
    usedBy,
    state: usedBy === null ? (isOpen ? "open" : "ended") : "used",
  };
}
