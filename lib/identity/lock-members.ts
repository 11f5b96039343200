import type { Tx } from "#lib/db/client.ts";
import { lacksCapability } from "#lib/http/access.ts";
import { capabilitiesOfRole, membershipRoleOf } from "#lib/identity/capabilities.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import { findMember, lockOrganization, type MemberRow } from "#lib/identity/member-store.ts";
import { notFound } from "#lib/problem.ts";
import type { Capability, MembershipRole } from "#lib/vocabulary.ts";

type Actor = { readonly userId: string; readonly sessionId: string; readonly organizationId: string };

/**
 * Locks the person, the session and the organization, and then reads the role again, which is null without a membership.
 * @throws Problem session_expired, banned; not_found unless the organization is the active one
 */
export async function lockMembers(
  tx: Tx,
  organizationId: string,
  actor: Actor,
): Promise<{ readonly name: string; readonly role: MembershipRole | null }> {
  await lockPerson(tx, actor);
  const organization = organizationId === actor.organizationId ? await lockOrganization(tx, organizationId) : null;
  if (!organization) throw notFound("active organization");
  const row = await findMember(tx, organizationId, actor.userId);
  return { name: organization.name, role: row && membershipRoleOf(row.role) };
}

/** Reads the person's capabilities again under locks. @throws Problem session_expired, banned, capability_required */
export async function requireStillHeld(tx: Tx, caller: Actor, capability: Capability): Promise<ReadonlySet<Capability>> {
  const { role } = await lockMembers(tx, caller.organizationId, caller);
  const held = capabilitiesOfRole(role);
  if (!held.has(capability)) throw lacksCapability(capability);
  return held;
}

export async function requireMember(tx: Tx, organizationId: string, userId: string): Promise<MemberRow> {
  const row = await findMember(tx, organizationId, userId);
  if (!row) throw notFound("member");
  return row;
}
