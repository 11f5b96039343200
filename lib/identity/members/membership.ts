import { lacksCapability } from "#lib/http/access.ts";
import { capabilitiesOfRole } from "#lib/identity/capabilities.ts";
import { Problem } from "#lib/problem.ts";
import { MembershipRole } from "#lib/vocabulary.ts";

export function grantableRoles(role: MembershipRole): readonly MembershipRole[] {
  if (!capabilitiesOfRole(role).has("members:manage")) return [];
  return role === "owner" ? MembershipRole.options : MembershipRole.options.filter((one) => one !== "owner");
}

/** An owner has the capabilities of an admin and can also make owners. */
export const isMore = (next: MembershipRole, current: MembershipRole): boolean =>
  (next === "owner" && current !== "owner") || !capabilitiesOfRole(next).isSubsetOf(capabilitiesOfRole(current));

/** Read `actor` after locking the organization. @throws Problem capability_required; forbidden if `actor` may not give a role */
export function requireGrantable(actor: MembershipRole | null, ...roles: readonly MembershipRole[]): void {
  const grantable = actor === null ? [] : grantableRoles(actor);
  if (grantable.length === 0) throw lacksCapability("members:manage");
  if (roles.some((role) => !grantable.includes(role))) {
    throw new Problem("forbidden", { detail: "Only an owner can change or remove an owner, or make another member an owner." });
  }
}

export function requireOwnerLeft(current: MembershipRole, next: MembershipRole | null, owners: number): void {
  if (current !== "owner" || next === "owner" || owners > 1) return;
  throw new Problem("conflict", { detail: "This is the last owner. Make another member owner first." });
}
