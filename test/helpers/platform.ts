import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { user } from "#lib/identity/tables.ts";
import { banUser } from "#lib/platform/ban-user.ts";
import * as platform from "#lib/platform/contract.ts";
import { emergencyRevoke } from "#lib/platform/emergency-revoke.ts";
import { revokeUserSessions } from "#lib/platform/revoke-user-sessions.ts";
import { unbanUser } from "#lib/platform/unban-user.ts";
import { updateUserRoles } from "#lib/platform/update-user-roles.ts";
import type { PlatformRole } from "#lib/vocabulary.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

/* People with platform roles, and operations that they call. */

export type Official = { readonly userId: string; readonly credential: Credential };

/** A person with these platform roles besides `user`. */
export async function createOfficial(...roles: PlatformRole[]): Promise<Official> {
  const person = await createPerson(await createOrganization("Platform"));
  await database()
    .update(user)
    .set({ platformRoles: ["user", ...roles] })
    .where(eq(user.id, person.userId));
  return person;
}

export const REASON = "For the test of it";
type RequestBody = Record<string, unknown>;

export const setRoles = ({ credential }: Official, userId: string, platformRoles: readonly string[], more: RequestBody = {}) =>
  send(platform.updateUserRoles, updateUserRoles, {
    as: credential,
    id: userId,
    body: { reason: REASON, platformRoles, ...more },
  });

const keyed = (key?: string) => (key === undefined ? {} : { key });

export const endSessionsOf = ({ credential }: Official, userId: string, body: RequestBody = { reason: REASON }, key?: string) =>
  send(platform.revokeUserSessions, revokeUserSessions, { as: credential, id: userId, body, ...keyed(key) });

export const ban = ({ credential }: Official, userId: string, more: RequestBody = {}, key?: string) =>
  send(platform.banUser, banUser, { as: credential, id: userId, body: { reason: REASON, ...more }, ...keyed(key) });

export const unban = ({ credential }: Official, userId: string, reason = REASON) =>
  send(platform.unbanUser, unbanUser, { as: credential, id: userId, body: { reason } });

export const stopNow = ({ credential }: Official, named: RequestBody, key?: string) =>
  send(platform.emergencyRevoke, emergencyRevoke, {
    as: credential,
    body: { reason: REASON, ...named },
    ...keyed(key),
  });
