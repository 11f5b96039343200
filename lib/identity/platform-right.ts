import type { Tx } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { platformCapabilitiesOf, platformRolesOf } from "#lib/identity/capabilities.ts";
import { bannedNow, findUser, isLiveSession, type UserRow } from "#lib/identity/user-store.ts";
import { Problem } from "#lib/problem.ts";
import type { PlatformCapability } from "#lib/vocabulary.ts";

export const rightsOf = ({ platformRoles }: UserRow): ReadonlySet<PlatformCapability> =>
  platformCapabilitiesOf(platformRolesOf(platformRoles));

/** Without enterGate or closeGate before, the right may end before the commit. @throws Problem forbidden */
export async function requireRight(
  tx: Tx,
  { userId, sessionId }: SessionCaller,
  capability: PlatformCapability,
  now: Date,
): Promise<ReadonlySet<PlatformCapability>> {
  const row = (await isLiveSession(tx, sessionId)) ? await findUser(tx, userId) : null;
  const rights = row && !bannedNow(row, now) ? rightsOf(row) : null;
  if (rights?.has(capability)) return rights;
  throw new Problem("forbidden", { detail: "You have lost this right meanwhile. Nothing was changed." });
}
