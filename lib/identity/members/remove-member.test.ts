import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import * as audit from "#lib/audit/contract.ts";
import { listAuditEvents } from "#lib/audit/list-audit-events.ts";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { activateOrganization } from "#lib/identity/sessions/activate-organization.ts";
import * as keys from "#lib/identity/keys/contract.ts";
import * as sessions from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { listServiceAccounts } from "#lib/identity/keys/list-service-accounts.ts";
import { liveKeysMade } from "#lib/identity/keys/made-keys-store.ts";
import * as members from "#lib/identity/members/contract.ts";
import { rotateServiceAccountKey } from "#lib/identity/keys/rotate-service-account-key.ts";
import { invitation, member } from "#lib/identity/tables.ts";
import { updateMember } from "#lib/identity/members/update-member.ts";
import { viewMembers } from "#lib/pages/settings/view-members.ts";
import { callerOf } from "#test/caller.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization, signIn, type Owner } from "#test/identity.ts";
import { changeRole, invite, remove } from "#test/members.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const listKeys = (as: Owner) => send(keys.listServiceAccounts, listServiceAccounts, { as: as.credential });
const readSession = async ({ credential }: Pick<Owner, "credential">) =>
  (await send(sessions.getSession, getSession, { as: credential })).data.session;

describe("removeMember", () => {
  test("every session loses its rights on the next request and leaves the organization", async () => {
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
    const again = await send(sessions.activateOrganization, activateOrganization, {
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

  test("removing a person requires a decision about the valid keys that the person has seen", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    const [made, rotated, other] = [
      await newKey(admin, ["audit:read"]),
      await newKey(owner, ["audit:read"]),
      await newKey(owner, ["audit:read"]),
    ];
    const rotation = { id: rotated.serviceAccountId, as: admin.credential, body: { gracePeriodSeconds: 60 } };
    const { data } = await send(keys.rotateServiceAccountKey, rotateServiceAccountKey, rotation);
    const statusOf = async (apiKey = "") =>
      (await send(audit.listAuditEvents, listAuditEvents, { as: { authorization: `Bearer ${apiKey}` } })).status;
    const { status, problem } = await remove(owner, admin.userId);
    expect([status, problem.code]).toEqual([409, "keys_undecided"]);
    expect(problem.errors).toEqual([
      { pointer: "/keys", detail: `Agent: ${data.keyPreview}` },
      { pointer: "/keys", detail: expect.stringMatching(/^Agent: csk_sandbox_/) },
    ]);
    expect([await statusOf(data.apiKey), (await changeRole(admin, admin.userId, "admin")).status]).toEqual([200, 200]);
    const { keysMade } = await viewMembers({ ...(await callerOf(owner.credential)), organizationId: owner.organizationId });
    expect(keysMade[admin.userId]?.map(({ preview }) => preview)).toContain(data.keyPreview);
    expect((await remove(owner, admin.userId, { keys: "revoke" })).status).toBe(200);
    const left = [
      await statusOf(made.apiKey),
      await statusOf(data.apiKey),
      await statusOf(rotated.apiKey),
      await statusOf(other.apiKey),
    ];
    expect(left).toEqual([401, 401, 200, 200]);
    const [event] = await database()
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.chain, owner.organizationId), eq(auditEvents.type, "member.removed")));
    expect((event!.metadata as { revokedKeys: string[] }).revokedKeys).toHaveLength(2);
    expect((await listKeys(owner)).data.items).toHaveLength(3);
  });

  test("a lower role requires a decision only about keys that can do more than the role", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    const [, reads] = [await newKey(admin, ["payments:authorize"]), await newKey(admin, ["audit:read"])];
    const asked = await changeRole(owner, admin.userId, "viewer");
    expect([asked.problem.code, asked.problem.errors?.length]).toEqual(["keys_undecided", 1]);
    const body = { role: "viewer", keys: "revoke" };
    const ids = [owner.organizationId, admin.userId];
    const { status } = await send(members.updateMember, updateMember, { id: ids, body, as: owner.credential });
    const live = await liveKeysMade(database(), owner.organizationId, admin.userId);
    expect([status, live.map(({ keyId }) => keyId)]).toEqual([200, [reads.apiKey.split("_")[2]]]);
    expect((await changeRole(owner, admin.userId, "admin")).status).toBe(200);
  });

  test("keys belong to the organization and may stay; open invitations from the person are canceled", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    const { serviceAccountId } = await newKey(admin);
    const { invitationId } = (await invite(admin, { email: "back-door@example.com", role: "admin" })).data;
    expect((await remove(owner, admin.userId, { keys: "keep" })).status).toBe(200);
    expect((await listKeys(owner)).data.items.map((one) => one.serviceAccountId)).toEqual([serviceAccountId]);
    const [row] = await database().select().from(invitation).where(eq(invitation.id, invitationId));
    expect(row?.status).toBe("canceled");
  });

  test("an admin cannot remove an owner; the last owner cannot leave, but one of two owners can", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    expect((await remove(admin, owner.userId)).problem.code).toBe("forbidden");
    expect((await remove(owner, owner.userId)).problem.code).toBe("conflict");
    const second = await newMember(owner, "owner");
    expect((await remove(second, second.userId)).status).toBe(200);
  });

  test("if two owners remove each other at once, one is left", async () => {
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

  test("404 for a member of another organization, 403 without members:manage, 400 for an empty reason", async () => {
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

  test("lists members in the order of joining; open invitations and roles only with members:manage", async () => {
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
