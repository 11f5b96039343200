import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { member, session, user } from "#lib/identity/tables.ts";
import { createOrganization } from "#test/tenant.ts";

type Lost = readonly [reason: string, loseRights: (userId: string) => Promise<unknown>];

/** Ways in which a signed-in person can lose their rights in the active organization while a request is running. */
export const lostRights: readonly Lost[] = [
  ["the session ends", (userId) => database().delete(session).where(eq(session.userId, userId))],
  ["the membership ends", (userId) => database().delete(member).where(eq(member.userId, userId))],
  ["the account is banned", (userId) => database().update(user).set({ banned: true }).where(eq(user.id, userId))],
  [
    "another organization becomes active",
    async (userId) => {
      const activeOrganizationId = await createOrganization("Other");
      const id = newId("member");
      await database().insert(member).values({ id, organizationId: activeOrganizationId, userId, role: "owner" });
      await database().update(session).set({ activeOrganizationId }).where(eq(session.userId, userId));
    },
  ],
];
