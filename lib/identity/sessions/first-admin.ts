import { setPlatformRoles } from "#lib/identity/user-store.ts";
import { audit } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { lockFirstAdmin, markClaimed, readInstallation } from "#lib/installation/store.ts";
import type { PlatformRole } from "#lib/vocabulary.ts";

const roles: PlatformRole[] = ["user", "admin"];

export async function makeFirstAdmin(tx: Tx, userId: string, reason: string, now: Date): Promise<void> {
  await setPlatformRoles(tx, userId, roles);
  await markClaimed(tx);
  audit(
    tx,
    {
      type: "platformUser.rolesUpdated",
      actorId: userId,
      organizationId: null,
      subjectId: userId,
      entityType: "user",
      entityId: userId,
      metadata: { platformRoles: roles, reason },
    },
    now,
  );
}

/** Call only in a sandbox; because of the lock, only one of two people who come at the same time becomes admin. */
export async function claimSandbox(tx: Tx, userId: string, now: Date): Promise<void> {
  const before = await readInstallation(tx);
  if (!before || before.claimed) return;
  await lockFirstAdmin(tx);
  const installation = await readInstallation(tx);
  if (installation && !installation.claimed) await makeFirstAdmin(tx, userId, "First user of the sandbox.", now);
}
