import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { invitation, member } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newInvitation, newMember, newOrganization, type Owner } from "#test/identity.ts";
import { changeRole, invite } from "#test/members.ts";

useDatabase();

const rolesOf = async ({ organizationId }: Owner) => {
  const rows = await database().select({ role: member.role }).from(member).where(eq(member.organizationId, organizationId));
  return rows.map(({ role }) => role).toSorted();
};

describe("updateMember", () => {
  test("the new role applies on the next request, and the change is in the audit log", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    expect((await invite(admin, { email: "one@example.com" })).status).toBe(200);
    const { status, data } = await changeRole(owner, admin.userId, "viewer");
    expect(status).toBe(200);
    expect(data).toMatchObject({ userId: admin.userId, role: "viewer", email: admin.email, name: "Grace" });
    expect((await invite(admin, { email: "two@example.com" })).problem.code).toBe("capability_required");
    const [event] = await database()
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.entityId, admin.userId), eq(auditEvents.type, "member.roleUpdated")));
    expect(event).toMatchObject({
      actorId: owner.userId,
      subjectId: admin.userId,
      metadata: { from: "admin", to: "viewer", canceledInvitations: [expect.stringMatching(/^inv_/)] },
    });
  });

  test("invitations that the new role may not send are canceled, and the others stay", async () => {
    const owner = await newOrganization();
    const second = await newMember(owner, "owner");
    const { invitationId: asOwner } = (await invite(second, { email: "o@example.com", role: "owner" })).data;
    const { invitationId: asViewer } = (await invite(second, { email: "v@example.com" })).data;
    expect((await changeRole(owner, second.userId, "admin")).status).toBe(200);
    const rows = await database()
      .select({ id: invitation.id, status: invitation.status })
      .from(invitation)
      .where(and(eq(invitation.inviterId, second.userId)));
    expect(Object.fromEntries(rows.map(({ id, status }) => [id, status]))).toEqual({
      [asOwner]: "canceled",
      [asViewer]: "pending",
    });
  });

  test("nobody raises their own role, and only an owner changes owners", async () => {
    const owner = await newOrganization();
    const [admin, developer] = [await newMember(owner, "admin"), await newMember(owner, "developer")];
    expect((await changeRole(admin, admin.userId, "owner")).problem.code).toBe("forbidden");
    expect((await changeRole(admin, owner.userId, "viewer")).problem.code).toBe("forbidden");
    expect((await changeRole(developer, developer.userId, "admin")).problem.code).toBe("capability_required");
    expect((await changeRole(admin, developer.userId, "admin")).status).toBe(200);
    expect(await rolesOf(owner)).toEqual(["admin", "admin", "owner"]);
  });

  test("the last owner cannot be demoted", async () => {
    const owner = await newOrganization();
    const { status, problem } = await changeRole(owner, owner.userId, "admin");
    expect([status, problem.code]).toEqual([409, "conflict"]);
    await newMember(owner, "owner");
    expect((await changeRole(owner, owner.userId, "viewer")).status).toBe(200);
  });

  test("if two owners demote each other at once, one owner is left", async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      const one = await newOrganization();
      const two = await newMember(one, "owner");
      const answers = await Promise.all([changeRole(one, two.userId, "viewer"), changeRole(two, one.userId, "viewer")]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
      expect(await rolesOf(one)).toEqual(["owner", "viewer"]);
    }
  });

  test("404 for a member of another organization and for an unknown one", async () => {
    const [owner, other] = [await newOrganization(), await newOrganization()];
    const [foreign, unknown] = [
      await changeRole(owner, other.userId, "viewer"),
      await changeRole(owner, "usr_unknown", "viewer"),
    ];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect((await changeRole(owner, other.userId, "viewer", other.organizationId)).status).toBe(404);
  });

  test("400 points at an unknown role", async () => {
    const owner = await newOrganization();
    const { status, problem } = await changeRole(owner, owner.userId, "member" as "viewer");
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, "/role"]);
  });

  test("setting the same role again writes no event", async () => {
    const owner = await newOrganization();
    await newInvitation(owner, "someone@example.com", "viewer");
    expect((await changeRole(owner, owner.userId, "owner")).status).toBe(200);
    const events = await database()
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.chain, owner.organizationId), eq(auditEvents.type, "member.roleUpdated")));
    expect(events).toEqual([]);
  });
});
