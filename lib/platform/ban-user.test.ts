import { describe, expect, test } from "vitest";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import * as identity from "#lib/identity/sessions/contract.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, newPerson, PASSWORD, signIn } from "#test/identity.ts";
import { ban, createOfficial, REASON } from "#test/platform.ts";
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

  test("a temporary ban shows its end", async () => {
    const operator = await createOfficial("operator");
    const person = await newPerson();
    const banExpires = new Date(Date.now() + 3_600_000).toISOString();
    expect((await ban(operator, person.userId, { banExpires })).data).toMatchObject({ banned: true, banExpires });
  });

  test("a repeat with the same idempotency key gets the same reply and is recorded once", async () => {
    const operator = await createOfficial("operator");
    const { userId } = await newPerson();
    const first = await ban(operator, userId, {}, "ban-once");
    const again = await ban(operator, userId, {}, "ban-once");
    expect([again.headers.get("idempotent-replayed"), again.data]).toEqual(["true", first.data]);
    expect((await eventsAbout(userId)).filter(({ type }) => type === "platformUser.banned")).toHaveLength(1);
  });

  test("403 for oneself and for people with more rights; 409 for the last admin", async () => {
    const operator = await createOfficial("operator");
    const admin = await createOfficial("admin");
    expect((await ban(operator, operator.userId)).problem.code).toBe("forbidden");
    expect((await ban(operator, admin.userId)).problem.code).toBe("last_admin");
    await createOfficial("admin");
    expect((await ban(operator, admin.userId)).problem.code).toBe("forbidden");
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
