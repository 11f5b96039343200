import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { activateOrganization } from "#lib/identity/activate-organization.ts";
import * as identity from "#lib/identity/contract.ts";
import { getSession } from "#lib/identity/get-session.ts";
import { listServiceAccounts } from "#lib/identity/list-service-accounts.ts";
import { invitation, member } from "#lib/identity/tables.ts";
import { viewMembers } from "#lib/identity/view-members.ts";
import { callerOf } from "#test/caller.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization, signIn, type Owner } from "#test/identity.ts";
import { invite, remove } from "#test/members.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const listKeys = (as: Owner) => send(identity.listServiceAccounts, listServiceAccounts, { as: as.credential });
const readSession = async ({ credential }: Pick<Owner, "credential">) =>
  (await send(identity.getSession, getSession, { as: credential })).data.session;

describe("removeMember", () => {
  test("the next request of every session may nothing, and no session stays in the organization", async () => {
    const owner = await newOrganization();
    const developer = await newMember(owner, "developer");
    const second = { ...developer, credential: await signIn(developer.email) };
    expect((await listKeys(developer)).status).toBe(200);
    const { status, data } = await remove(owner, developer.userId, { reason: "Left the company." });
    expect([status, data.userId]).toEqual([200, developer.userId]);
    for (const session of [developer, second]) {
      expect((await listKeys(session)).problem.code).toBe("capability_required");
      const { activeOrganization, organizations, capabilities } = await readSession(session);
      expect([activeOrganization, organizations, capabilities]).toEqual([undefined, [], []]);
    }
    const again = await send(identity.activateOrganization, activateOrganization, {
      id: owner.organizationId,
      as: developer.credential,
    });
    expect(again.status).toBe(404);
    const [event] = await database()
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.chain, owner.organizationId), eq(auditEvents.type, "member.removed")));
    expect(event).toMatchObject({
      actorId: owner.userId,
      subjectId: developer.userId,
      metadata: { role: "developer", reason: "Left the company.", canceledInvitations: [] },
    });
  });

  test("keys belong to the organization and stay; open invitations of the person do not", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    const { serviceAccountId } = await newKey(admin);
    const { invitationId } = (await invite(admin, { email: "back-door@example.com", role: "admin" })).data;
    expect((await remove(owner, admin.userId)).status).toBe(200);
    expect((await listKeys(owner)).data.items.map((one) => one.serviceAccountId)).toEqual([serviceAccountId]);
    const [row] = await database().select().from(invitation).where(eq(invitation.id, invitationId));
    expect(row?.status).toBe("canceled");
  });

  test("an admin removes no owner, the last owner stays, and one of two may leave", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    expect((await remove(admin, owner.userId)).problem.code).toBe("forbidden");
    expect((await remove(owner, owner.userId)).problem.code).toBe("conflict");
    const second = await newMember(owner, "owner");
    expect((await remove(second, second.userId)).status).toBe(200);
  });

  test("two owners who remove each other at once: one is left", async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      const one = await newOrganization();
      const two = await newMember(one, "owner");
      const answers = await Promise.all([remove(one, two.userId), remove(two, one.userId)]);
      const statuses = answers.map(({ status }) => status).toSorted();
      expect(statuses).toEqual([200, 403]);
      const left = await database().select().from(member).where(eq(member.organizationId, one.organizationId));
      expect(left.map(({ role }) => role)).toEqual(["owner"]);
    }
  });

  test("404 hides a member of another organization, 403 without members:manage, 400 for a reason that is none", async () => {
    const [owner, other] = [await newOrganization(), await newOrganization()];
    const viewer = await newMember(owner, "viewer");
    expect((await remove(owner, other.userId)).status).toBe(404);
    expect((await remove(owner, other.userId, {}, other.organizationId)).status).toBe(404);
    expect((await remove(viewer, owner.userId)).problem.code).toBe("capability_required");
    expect((await remove(owner, viewer.userId, { reason: " " })).problem.errors?.[0]?.pointer).toBe("/reason");
  });
});

describe("viewMembers", () => {
  const view = async ({ credential }: Owner) => viewMembers(await callerOf(credential));

  test("members in the order in which they joined; open invitations and roles only for who may change them", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    const viewer = await newMember(owner, "viewer");
    await invite(admin, { email: "open@example.com" });
    const forAdmin = await view(admin);
    expect(forAdmin.members.map(({ userId }) => userId)).toEqual([owner.userId, admin.userId, viewer.userId]);
    expect(forAdmin.invitations).toMatchObject([{ email: "open@example.com", invitedBy: "Grace", expired: false }]);
    expect(forAdmin.invitations[0]?.link).toBeUndefined();
    expect(forAdmin.grantable).not.toContain("owner");
    expect((await view(owner)).grantable).toContain("owner");
    expect(await view(viewer)).toMatchObject({ invitations: [], grantable: [], owners: 1, more: false });
  });
});
