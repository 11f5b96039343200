import { randomBytes } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { invitationTokenOf } from "#lib/identity/members/invitation-token.ts";
import { invitation } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { mailsTo } from "#test/mail.ts";
import { newMember, newOrganization, newPerson } from "#test/identity.ts";
import { accept, cancel, invite } from "#test/members.ts";

useDatabase();

const newAddress = () => `${randomBytes(8).toString("hex")}@example.com`;

describe("inviteMember", () => {
  test("the account with that address joins once with the role; the invitation is valid for 48 hours", async () => {
    const owner = await newOrganization();
    const guest = await newPerson();
    const { status, data } = await invite(owner, { email: ` ${guest.email.toUpperCase()} `, role: "finance" });
    expect(status).toBe(200);
    expect(data).toMatchObject({ email: guest.email, role: "finance", status: "pending" });
    expect(Date.parse(data.expiresAt) - Date.parse(data.createdAt)).toBe(48 * 3_600_000);
    const joined = await accept(guest, invitationTokenOf(data.invitationId));
    expect(joined.data.session.activeOrganization).toMatchObject({
      organizationId: owner.organizationId,
      membershipRole: "finance",
    });
    expect((await accept(guest, invitationTokenOf(data.invitationId))).status).toBe(404);
  });

  test("the mail to that address contains the link, and a refused invitation sends none", async () => {
    const owner = await newOrganization({ name: "Harbor Books" });
    const email = newAddress();
    const { invitationId } = (await invite(owner, { email, role: "approver" })).data;
    const [mail] = await mailsTo(email);
    expect(mail).toMatchObject({ subject: "You are invited to “\u2068Harbor Books\u2069”" });
    expect(mail?.plain).toContain(`/invitations/${invitationTokenOf(invitationId)}\n`);
    expect(mail?.plain).toContain("as approver");
    expect((await invite(owner, { email: owner.email })).status).toBe(409);
    const subjects = (await mailsTo(owner.email)).map(({ subject }) => subject);
    expect(subjects.filter((subject) => subject.startsWith("You are invited"))).toEqual([]);
  });

  test("an invitation's id alone, another account and an expired invitation are refused", async () => {
    const owner = await newOrganization();
    const [guest, other] = [await newPerson(), await newPerson()];
    const { invitationId } = (await invite(owner, { email: guest.email })).data;
    expect((await accept(guest, invitationId)).status).toBe(404);
    expect((await accept(other, invitationTokenOf(invitationId))).status).toBe(404);
    await database()
      .update(invitation)
      .set({ expiresAt: sql`statement_timestamp() - interval '1 second'` })
      .where(eq(invitation.id, invitationId));
    expect((await accept(guest, invitationTokenOf(invitationId))).status).toBe(404);
  });

  test("an address has one open invitation; inviting again renews it with the new role, also after its expiry", async () => {
    const owner = await newOrganization();
    const guest = await newPerson();
    const first = (await invite(owner, { email: guest.email })).data;
    expect(first.role).toBe("viewer");
    await database()
      .update(invitation)
      .set({ expiresAt: sql`statement_timestamp() - interval '1 second'` })
      .where(eq(invitation.id, first.invitationId));
    const again = (await invite(owner, { email: guest.email, role: "admin" })).data;
    expect(again).toMatchObject({ invitationId: first.invitationId, role: "admin", createdAt: first.createdAt });
    const joined = await accept(guest, invitationTokenOf(again.invitationId));
    expect(joined.data.session.activeOrganization?.membershipRole).toBe("admin");
  });

  test("parallel requests for one address make one invitation", async () => {
    const owner = await newOrganization();
    const email = newAddress();
    const sent = await Promise.all(Array.from({ length: 6 }, () => invite(owner, { email })));
    expect(new Set(sent.map(({ data }) => data.invitationId)).size).toBe(1);
  });

  test("an admin can neither invite an owner nor change an owner's invitation", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    const email = newAddress();
    expect((await invite(admin, { email, role: "owner" })).problem.code).toBe("forbidden");
    const { invitationId } = (await invite(owner, { email, role: "owner" })).data;
    expect((await invite(admin, { email, role: "viewer" })).problem.code).toBe("forbidden");
    expect((await cancel(admin, invitationId)).problem.code).toBe("forbidden");
    expect((await invite(admin, { email: newAddress(), role: "admin" })).status).toBe(200);
  });

  test("409 for a member's address, 403 without members:manage, 404 for another organization", async () => {
    const [owner, other] = [await newOrganization(), await newOrganization()];
    const developer = await newMember(owner, "developer");
    expect((await invite(owner, { email: developer.email })).problem.code).toBe("conflict");
    expect((await invite(developer, { email: newAddress() })).problem.code).toBe("capability_required");
    const abroad = { ...other, organizationId: owner.organizationId };
    expect((await invite(abroad, { email: newAddress() })).status).toBe(404);
    const { invitationId } = (await invite(owner, { email: newAddress() })).data;
    expect((await cancel(other, invitationId)).status).toBe(404);
    expect((await cancel(other, invitationId, owner.organizationId)).status).toBe(404);
  });

  test.each([
    ["/email", { email: "grace" }],
    ["/email", { role: "viewer" }],
    ["/role", { email: "grace@example.com", role: "member" }],
    ["/status", { email: "grace@example.com", status: "accepted" }],
  ])("400 points at %s", async (pointer, body) => {
    const { status, problem } = await invite(await newOrganization(), body);
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
  });

  test("a retry gets the same bytes, and invitations are limited per minute", async () => {
    const owner = await newOrganization();
    const email = newAddress();
    const first = await invite(owner, { email }, "key-1");
    const again = await invite(owner, { email }, "key-1");
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.data).toEqual(first.data);
    const statuses = [];
    for (let turn = 0; turn < 30; turn += 1) statuses.push((await invite(owner, { email })).status);
    expect(statuses.at(-1)).toBe(429);
  });
});
