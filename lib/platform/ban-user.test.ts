import { describe, expect, test } from "vitest";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import * as identity from "#lib/identity/contract.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, newPerson, PASSWORD, signIn } from "#test/identity.ts";
import { ban, createOfficial, endSessionsOf, REASON, unban } from "#test/platform.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

const read = (as: Credential) => send(identity.getSession, getSession, { as });

describe("banUser", () => {
  test("every session is refused on its next request, and signing in again is refused", async () => {
    const operator = await createOfficial("operator");
    const person = await newPerson();
    const second = await signIn(person.email);
    const { status, data } = await ban(operator, person.userId);
    expect([status, data.banned, data.banReason, data.banExpires]).toEqual([200, true, REASON, undefined]);
    for (const as of [person.credential, second]) expect((await read(as)).status).toBe(401);
    const again = await callAuth("/sign-in/email", { email: person.email, password: PASSWORD });
    const cookie = again.headers.getSetCookie().find((one) => one.includes(".session_token="));
    if (cookie) expect((await read({ cookie: cookie.slice(0, cookie.indexOf(";")) })).problem.code).toBe("banned");
    const events = await eventsAbout(person.userId);
    expect(events.at(-1)).toMatchObject({
      type: "platformUser.banned",
      actorId: operator.userId,
      metadata: { reason: REASON, revokedCount: 2 },
    });
  });

  test("a temporary ban shows its end, and is lifted with a reason", async () => {
    const operator = await createOfficial("operator");
    const person = await newPerson();
    const banExpires = new Date(Date.now() + 3_600_000).toISOString();
    expect((await ban(operator, person.userId, { banExpires })).data).toMatchObject({ banned: true, banExpires });
    expect((await unban(operator, person.userId)).data.banned).toBe(false);
    expect((await read(await signIn(person.email))).status).toBe(200);
    const types = (await eventsAbout(person.userId)).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith("platformUser."))).toEqual(["platformUser.banned", "platformUser.unbanned"]);
    expect((await unban(operator, person.userId)).status).toBe(200);
  });

  test("403 for oneself and for people with more rights; 409 for the last admin", async () => {
    const operator = await createOfficial("operator");
    const admin = await createOfficial("admin");
    expect((await ban(operator, operator.userId)).problem.code).toBe("forbidden");
    expect((await ban(operator, admin.userId)).problem.code).toBe("last_admin");
    await createOfficial("admin");
    expect((await ban(operator, admin.userId)).problem.code).toBe("forbidden");
  });

  test("only people with the same rights lift the ban of a person with more rights", async () => {
    const [operator, admin, other] = [
      await createOfficial("operator"),
      await createOfficial("admin"),
      await createOfficial("admin"),
    ];
    expect((await ban(admin, other.userId)).status).toBe(200);
    expect((await unban(operator, other.userId)).problem.code).toBe("forbidden");
    expect((await unban(admin, other.userId)).data.banned).toBe(false);
  });

  test("400 points at an end in the past and a missing reason, 404 for an unknown user", async () => {
    const operator = await createOfficial("operator");
    const { userId } = await createPerson(await createOrganization());
    expect((await ban(operator, userId, { banExpires: "2020-01-01T00:00:00Z" })).problem.errors?.[0]?.pointer).toBe(
      "/banExpires",
    );
    expect((await ban(operator, userId, { reason: "" })).problem.errors?.[0]?.pointer).toBe("/reason");
    expect((await ban(operator, "usr_none")).status).toBe(404);
  });
});

describe("revokeUserSessions", () => {
  test("ends every session on its next request and counts the live ones; the person may sign in again", async () => {
    const support = await createOfficial("support");
    const person = await newPerson();
    const second = await signIn(person.email);
    const { status, data } = await endSessionsOf(support, person.userId);
    expect([status, data]).toEqual([200, { userId: person.userId, revokedCount: 2 }]);
    for (const as of [person.credential, second]) expect((await read(as)).problem.code).toBe("session_expired");
    expect((await endSessionsOf(support, person.userId)).data.revokedCount).toBe(0);
    expect((await read(await signIn(person.email))).status).toBe(200);
    const events = await eventsAbout(person.userId);
    expect(events.filter(({ type }) => type === "session.revoked")).toHaveLength(2);
  });

  test("400 without a reason, 404 for an unknown user", async () => {
    const support = await createOfficial("support");
    expect((await endSessionsOf(support, support.userId, {})).problem.errors?.[0]?.pointer).toBe("/reason");
    expect((await endSessionsOf(support, "usr_none")).status).toBe(404);
  });
});
