import type { Tx } from "#lib/db/client.ts";
import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import { findMember, lockOrganization, type MemberRow } from "#lib/identity/member-store.ts";
import { notFound } from "#lib/problem.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";

type Actor = { readonly userId: string; readonly organizationId: string };

/**
 * Locks who is in the organization and reads the caller's role again: somebody may have taken it since the request came.
 * @throws Problem not_found for every organization but the caller's active one
 */
export async function lockMembers(
  tx: Tx,
  organizationId: string,
  actor: Actor,
): Promise<{ readonly name: string; readonly role: MembershipRole | null }> {
  const organization = organizationId === actor.organizationId ? await lockOrganization(tx, organizationId) : null;
  if (!organization) throw notFound("active organization");
  const row = await findMember(tx, organizationId, actor.userId);
  return { name: organization.name, role: row && membershipRoleOf(row.role) };
}

/** @throws Problem not_found */
export async function requireMember(tx: Tx, organizationId: string, userId: string): Promise<MemberRow> {
  const row = await findMember(tx, organizationId, userId);
  if (!row) throw notFound("member");
  return row;
}
