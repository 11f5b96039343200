import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { completeOnboarding as handler } from "#lib/identity/sessions/complete-onboarding.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { invitation, member, organization, user } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newInvitation, newKey, newOrganization, newPerson, signIn, type Person } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const onboard = (person: Pick<Person, "credential">, body: Record<string, unknown> = {}, key?: string) =>
  send(contract.completeOnboarding, handler, {
    body: { organizationName: "Acme", productRoles: ["buyer"], ...body },
    as: person.credential,
    ...(key !== undefined && { key }),
  });

const eventsOf = async (entityId: string, type: string) =>
  database()
    .select()
    .from(auditEvents)
    .where(and(eq(auditEvents.entityId, entityId), eq(auditEvents.type, type)));

describe("completeOnboarding", () => {
  test("if several people start a sandbox at the same time, exactly one becomes platform admin", async () => {
    const people = await Promise.all(Array.from({ length: 4 }, () => newPerson()));
    const replies = await Promise.all(people.map((person) => onboard(person)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const admins = replies.filter(({ data }) => data.session.platformRoles.includes("admin"));
    expect(admins).toHaveLength(1);
    const { userId } = admins[0]!.data.session.user;
    expect(await eventsOf(userId, "platformUser.rolesUpdated")).toMatchObject([{ chain: "platform" }]);
    expect((await onboard(await newPerson())).data.session.platformRoles).toEqual(["user"]);
  });

  test("the person owns the new organization, which becomes active, and the audit events are written", async () => {
    const person = await newPerson();
    const { status, data } = await onboard(person, {
      organizationName: "  Café Müller & Söhne ",
      productRoles: ["seller", "buyer"],
    });
    expect(status).toBe(200);
    const active = data.session.activeOrganization!;
    expect(active).toMatchObject({
      name: "Café Müller & Söhne",
      slug: "cafe-muller-sohne",
      membershipRole: "owner",
      productRoles: ["buyer", "seller"],
    });
    expect(data.session.subject).toEqual({ subjectId: person.userId, organizationId: active.organizationId, type: "user" });
    expect((await send(contract.getSession, getSession, { as: person.credential })).data).toEqual(data);
    const [event] = await eventsOf(active.organizationId, "organization.created");
    expect(event).toMatchObject({ actorId: person.userId, chain: active.organizationId, metadata: { slug: active.slug } });
    const [row] = await database().select().from(organization).where(eq(organization.id, active.organizationId));
    expect(row?.environment).toBe("sandbox");
  });

  test("409 for a slug that is in use; if several people ask for the same slug at once, one of them gets it", async () => {
    const people = await Promise.all(Array.from({ length: 6 }, () => newPerson()));
    const replies = await Promise.all(people.map((person) => onboard(person, { organizationSlug: "wanted" })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
    const lost = replies.find(({ status }) => status === 409)!;
    expect(lost.problem).toMatchObject({ code: "slug_taken", errors: [{ pointer: "/organizationSlug" }] });
    const owners = await database().select().from(organization).where(eq(organization.slug, "wanted"));
    expect(owners).toHaveLength(1);
  });

  test("the slug made from the name is unique for any number of equal names", async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => newPerson()));
    const replies = await Promise.all(people.map((person) => onboard(person, { organizationName: "株式会社" })));
    const slugs = replies.map(({ data }) => data.session.activeOrganization!.slug);
    expect(new Set(slugs).size).toBe(5);
    for (const slug of slugs) expect(slug).toMatch(/^organization(-\d+)?$/);
  });

  test("one person can create up to ten organizations, also in parallel", async () => {
    const person = await newPerson();
    const replies = await Promise.all(Array.from({ length: 13 }, () => onboard(person)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    for (const { status, problem } of replies) if (status !== 200) expect(problem.code).toBe("organization_limit_reached");
    expect(await database().select().from(member).where(eq(member.userId, person.userId))).toHaveLength(10);
  });

  test("requests with the same idempotency key make one organization and get the same bytes", async () => {
    const person = await newPerson();
    const [first, second] = await Promise.all([onboard(person, {}, "once"), onboard(person, {}, "once")]);
    expect(second.data).toEqual(first.data);
    const third = await onboard(person, {}, "once");
    expect(third.headers.get("idempotent-replayed")).toBe("true");
    expect(third.data).toEqual(first.data);
    expect((await onboard(person, { organizationName: "Other" }, "once")).problem.code).toBe("idempotency_key_reused");
    expect(await database().select().from(member).where(eq(member.userId, person.userId))).toHaveLength(1);
  });

  test("400 points at fields that only the service writes", async () => {
    const person = await newPerson();
    for (const field of ["organizationId", "environment", "membershipRole", "platformRoles", "userId", "capabilities"]) {
      const { status, problem } = await onboard(person, { [field]: "admin" });
      expect([status, problem.errors?.[0]?.pointer]).toEqual([400, `/${field}`]);
    }
    expect((await onboard(person, { productRoles: ["admin"] })).status).toBe(400);
    expect((await onboard(person, { productRoles: [] })).status).toBe(400);
    for (const organizationSlug of ["", "A", "-a", "a-", "a b", "ä", "x".repeat(49)]) {
      expect((await onboard(person, { organizationSlug })).problem.errors?.[0]?.pointer).toBe("/organizationSlug");
    }
    expect((await database().select().from(user).where(eq(user.id, person.userId)))[0]?.platformRoles).toEqual(["user"]);
  });

  test("403 for an API key, 401 without a credential", async () => {
    const agent = await newKey(await newOrganization());
    expect((await onboard(agent)).status).toBe(403);
    expect((await onboard({ credential: {} })).status).toBe(401);
  });
});

describe("completeOnboarding with an invitation", () => {
  test("the invited person joins with the role of the invitation; the name is ignored", async () => {
    const owner = await newOrganization({ name: "Inviting" });
    const guest = await newPerson();
    const invitationToken = await newInvitation(owner, guest.email.toUpperCase(), "developer");
    const { status, data } = await onboard(guest, { invitationToken, organizationName: "Ignored" });
    expect(status).toBe(200);
    expect(data.session.activeOrganization).toMatchObject({
      organizationId: owner.organizationId,
      name: "Inviting",
      membershipRole: "developer",
    });
    const [row] = await database().select().from(member).where(eq(member.userId, guest.userId));
    expect(await eventsOf(row!.id, "member.joined")).toMatchObject([
      { chain: owner.organizationId, actorId: guest.userId, metadata: { role: "developer" } },
    ]);
  });

  test("404 for an invitation of another account, and for an expired, used or unknown invitation", async () => {
    const owner = await newOrganization();
    const [guest, thief] = [await newPerson(), await newPerson()];
    const used = await newInvitation(owner, guest.email, "owner");
    const bodies = new Set<string>();
    const refused = async (person: Person, invitationToken: string) => {
      const { status, problem } = await onboard(person, { invitationToken });
      expect(status).toBe(404);
      bodies.add(JSON.stringify({ ...problem, requestId: "" }));
    };
    await refused(thief, used);
    await refused(guest, await newInvitation(owner, guest.email, "viewer", -1000));
    await refused(guest, "inv_never");
    expect((await onboard(guest, { invitationToken: used })).status).toBe(200);
    await refused(guest, used);
    await refused(thief, used);
    expect(bodies.size).toBe(1);
    expect(await database().select().from(member).where(eq(member.userId, thief.userId))).toEqual([]);
  });

  test("an invitation is accepted once, however often it is clicked", async () => {
    const owner = await newOrganization();
    const guest = await newPerson();
    const invitationToken = await newInvitation(owner, guest.email, "viewer");
    const replies = await Promise.all(Array.from({ length: 4 }, () => onboard(guest, { invitationToken })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404]);
  });

  test("409 for a member of the organization, and the invitation stays open", async () => {
    const owner = await newOrganization();
    const invitationToken = await newInvitation(owner, owner.email, "viewer");
    expect((await onboard(owner, { invitationToken })).problem.code).toBe("conflict");
    const [row] = await database().select().from(invitation).where(eq(invitation.organizationId, owner.organizationId));
    expect(row?.status).toBe("pending");
  });

  test("the next sign-in starts in the organization that was joined last", async () => {
    const owner = await newOrganization();
    const guest = await newPerson();
    await onboard(guest);
    await onboard(guest, { invitationToken: await newInvitation(owner, guest.email, "viewer") });
    const { data } = await send(contract.getSession, getSession, { as: await signIn(guest.email) });
    expect(data.session.activeOrganization?.organizationId).toBe(owner.organizationId);
    expect(data.session.organizations).toHaveLength(2);
  });
});
