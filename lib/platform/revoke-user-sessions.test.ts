import { describe, expect, test } from "vitest";
import * as identity from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson, signIn } from "#test/identity.ts";
import { createOfficial, endSessionsOf, REASON } from "#test/platform.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const read = (as: Credential) => send(identity.getSession, getSession, { as });

describe("ends all sessions of a person", () => {
  test("every session is refused on its next request, and the reply has the number of valid ones; the person may sign in again", async () => {
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

  test("a repeat with the same idempotency key does not end the sessions that were opened since", async () => {
    const support = await createOfficial("support");
    const person = await newPerson();
    const body = { reason: REASON };
    const first = await endSessionsOf(support, person.userId, body, "end-once");
    const since = await signIn(person.email);
    const again = await endSessionsOf(support, person.userId, body, "end-once");
    expect([again.headers.get("idempotent-replayed"), again.data]).toEqual(["true", first.data]);
    expect((await read(since)).status).toBe(200);
  });
});
