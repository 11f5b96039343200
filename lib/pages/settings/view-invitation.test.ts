import { randomBytes } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { completeOnboarding } from "#lib/identity/sessions/complete-onboarding.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { invitationTokenOf } from "#lib/identity/members/invitation-token.ts";
import { invitation, session } from "#lib/identity/tables.ts";
import { viewInvitation } from "#lib/pages/settings/view-invitation.ts";
import { useDatabase } from "#test/database.ts";
import { newInvitation, newOrganization, newPerson, type Person } from "#test/identity.ts";
import { cancel, invite } from "#test/members.ts";
import { send } from "#test/tenant.ts";

useDatabase();

async function userOf({ userId }: Person) {
  const [row] = await database().select({ id: session.id }).from(session).where(eq(session.userId, userId));
  return (await viewSession(row!.id)).user;
}

describe("viewInvitation", () => {
  test("says what each reader can do with the invitation, and no longer accepts it after it was accepted", async () => {
    const owner = await newOrganization({ name: "Harbor Books" });
    const [guest, other] = [await newPerson(), await newPerson()];
    const token = await newInvitation(owner, guest.email, "approver");
    const stateFor = async (person: Person | null) => (await viewInvitation(token, person && (await userOf(person))))?.state;
    expect(await viewInvitation(token, null)).toMatchObject({
      organizationName: "Harbor Books",
      inviterName: "Ada",
      email: guest.email,
      role: "approver",
      state: "open",
    });
    expect([await stateFor(guest), await stateFor(other), await stateFor(owner)]).toEqual(["mine", "other", "member"]);
    const body = { organizationName: "ignored", productRoles: ["buyer"], invitationToken: token };
    await send(contract.completeOnboarding, completeOnboarding, { body, as: guest.credential });
    expect([await stateFor(guest), await stateFor(other), await stateFor(null)]).toEqual(["member", "accepted", "accepted"]);
  });

  test("says if the invitation has expired or was canceled", async () => {
    const owner = await newOrganization();
    const guest = await newPerson();
    const { invitationId } = (await invite(owner, { email: guest.email })).data;
    const stateNow = async () => (await viewInvitation(invitationTokenOf(invitationId), await userOf(guest)))?.state;
    await database()
      .update(invitation)
      .set({ expiresAt: sql`statement_timestamp() - interval '1 second'` })
      .where(eq(invitation.id, invitationId));
    expect(await stateNow()).toBe("expired");
    await cancel(owner, invitationId);
    expect(await stateNow()).toBe("canceled");
  });

  test("shows nothing for an id alone, for another signature or for another text", async () => {
    const owner = await newOrganization();
    const token = await newInvitation(owner, "guest@example.com", "viewer");
    for (const guess of [
      token.slice(0, -1),
      `${token.slice(0, -4)}AAAA`,
      token.replace("cit_", "inv_"),
      "",
      randomBytes(20).toString("hex"),
    ]) {
      expect(await viewInvitation(guess, null)).toBeNull();
    }
  });
});
