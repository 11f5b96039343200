import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { changePassword } from "#lib/identity/sessions/change-password.ts";
import * as identity from "#lib/identity/contract.ts";
import { endOtherSessions } from "#lib/identity/sessions/end-other-sessions.ts";
import { endSession } from "#lib/identity/sessions/end-session.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import * as contract from "#lib/identity/sessions/security-contract.ts";
import { newestKept } from "#lib/mail/store.ts";
import { callerOf } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, newPerson, PASSWORD, signIn } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const NEW = "another long password";
const end = (as: Credential, id: string) => send(contract.endSession, endSession, { as, id, body: {} });
const endOthers = (as: Credential) => send(contract.endOtherSessions, endOtherSessions, { as, body: {} });
const change = (as: Credential, currentPassword: string, newPassword = NEW) =>
  send(contract.changePassword, changePassword, { as, body: { currentPassword, newPassword } });
const codeOf = async (as: Credential) => (await send(identity.getSession, getSession, { as })).problem.code;
const eventsOf = (entityId: string) => database().select().from(auditEvents).where(eq(auditEvents.entityId, entityId));

describe("sessions", () => {
  test("an ended session is refused on the next request", async () => {
    const person = await newPerson();
    const other = await signIn(person.email);
    const { sessionId } = await callerOf(other);
    expect((await end(person.credential, sessionId)).data).toEqual({ endedCount: 1 });
    expect(await codeOf(other)).toBe("session_expired");
    expect(await codeOf(person.credential)).toBeUndefined();
    expect((await end(person.credential, sessionId)).problem.code).toBe("not_found");
    expect(await eventsOf(sessionId)).toMatchObject([{ type: "session.ended", actorId: person.userId }]);
  });

  test("the own session is ended by signing out; another person's is 404", async () => {
    const [person, stranger] = [await newPerson(), await newPerson()];
    const [own, foreign] = [await callerOf(person.credential), await callerOf(stranger.credential)];
    expect((await end(person.credential, own.sessionId)).problem.code).toBe("conflict");
    expect((await end(person.credential, foreign.sessionId)).problem.code).toBe("not_found");
    expect(await codeOf(stranger.credential)).toBeUndefined();
  });

  test("all other sessions of the person end at once, and no session of others", async () => {
    const [person, stranger] = [await newPerson(), await newPerson()];
    const others = [await signIn(person.email), await signIn(person.email)];
    expect((await endOthers(person.credential)).data).toEqual({ endedCount: 2 });
    expect(await Promise.all(others.map(codeOf))).toEqual(["session_expired", "session_expired"]);
    expect(await Promise.all([person.credential, stranger.credential].map(codeOf))).toEqual([undefined, undefined]);
    expect((await endOthers(person.credential)).data).toEqual({ endedCount: 0 });
    expect((await eventsOf(person.userId)).filter(({ type }) => type === "session.othersEnded")).toHaveLength(1);
  });
});

describe("changePassword", () => {
  test("ends every other session, keeps this one, and sends a mail", async () => {
    const person = await newPerson();
    const other = await signIn(person.email);
    expect((await change(person.credential, PASSWORD)).data).toEqual({ endedCount: 1 });
    expect(await codeOf(other)).toBe("session_expired");
    expect(await codeOf(person.credential)).toBeUndefined();
    expect((await callAuth("/sign-in/email", { email: person.email, password: PASSWORD })).status).toBe(401);
    expect((await callAuth("/sign-in/email", { email: person.email, password: NEW })).status).toBe(200);
    expect((await eventsOf(person.userId)).map(({ type }) => type)).toContain("password.changed");
    const mail = (await newestKept(20)).find(({ recipient }) => recipient === person.email);
    expect(mail?.subject).toBe("Your password was changed");
  });

  test("needs the password, and limits the tries", async () => {
    const person = await newPerson();
    const wrong = await change(person.credential, "not the password");
    expect([wrong.status, wrong.problem.errors?.[0]?.pointer]).toEqual([400, "/currentPassword"]);
    expect((await change(person.credential, PASSWORD, "short")).problem.errors?.[0]?.pointer).toBe("/newPassword");
    for (let at = 0; at < 4; at += 1) await change(person.credential, "not the password");
    expect((await change(person.credential, PASSWORD)).problem.code).toBe("rate_limited");
    expect((await callAuth("/sign-in/email", { email: person.email, password: PASSWORD })).status).toBe(200);
  });

  test("of two changes at once one succeeds", async () => {
    const person = await newPerson();
    const replies = await Promise.all([`${NEW} one`, `${NEW} two`].map((next) => change(person.credential, PASSWORD, next)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });
});
