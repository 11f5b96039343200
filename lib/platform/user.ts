import type { Tx } from "#lib/db/client.ts";
import { platformRolesOf } from "#lib/identity/capabilities.ts";
import { rightsOf } from "#lib/identity/platform-right.ts";
import { bannedNow, lockUser, type UserRow } from "#lib/identity/user-store.ts";
import type { PlatformUser } from "#lib/platform/contract.ts";
import { countOtherAdmins } from "#lib/platform/user-store.ts";
import { notFound, Problem } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";
import type { PlatformCapability } from "#lib/vocabulary.ts";

export function presentUser(row: UserRow, now: Date): PlatformUser {
  const { image, banReason, banExpires } = row;
  const banned = bannedNow(row, now);
  return {
    userId: row.id,
    email: row.email,
    name: row.name,
    ...(image !== null && { image }),
    emailVerified: row.emailVerified,
    platformRoles: platformRolesOf([...row.platformRoles, "user"]),
    banned,
    ...(banned && banReason !== null && { banReason }),
    ...(banned && banExpires !== null && { banExpires: toWire(banExpires) }),
    createdAt: toWire(row.createdAt),
    updatedAt: toWire(row.updatedAt),
  };
}

/** Nobody takes away or gives back platform rights that they lack. @throws Problem forbidden */
export function requireRightsOf(row: UserRow, own: ReadonlySet<PlatformCapability>): void {
  if ([...rightsOf(row)].every((right) => own.has(right))) return;
  throw new Problem("forbidden", { detail: "This person has platform rights that you lack. Ask an admin." });
}

export async function requireUser(tx: Tx, userId: string): Promise<UserRow> {
  const row = await lockUser(tx, userId);
  if (!row) throw notFound("user");
  return row;
}

/** The caller must have called closeGate, so that two admins cannot be removed at the same time. @throws Problem last_admin */
export async function requireAdminLeft(tx: Tx, { id, platformRoles }: UserRow): Promise<void> {
  if (!platformRoles.includes("admin") || (await countOtherAdmins(tx, id)) > 0) return;
  throw new Problem("last_admin", { detail: "This is the platform's last admin. Make somebody else an admin first." });
}
