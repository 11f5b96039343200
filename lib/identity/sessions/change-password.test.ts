import { describe, expect, test } from "vitest";
import * as contract from "#lib/identity/sessions/contract.ts";
import { changePassword } from "#lib/identity/sessions/change-password.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { newestKept } from "#lib/mail/store.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, newPerson, PASSWORD, signIn } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const NEW = "another long password";
const change = (as: Credential, currentPassword: string, newPassword = NEW) =>
  send(contract.changePassword, changePassword, { as, body: { currentPassword, newPassword } });
const codeOf = async (as: Credential) => (await send(contract.getSession, getSession, { as })).problem.code;

describe("changePassword", () => {
  test("ends every other session, keeps this one, and sends a mail", async () => {
    const person = await newPerson();
    const other = await signIn(person.email);
    expect((await change(person.credential, PASSWORD)).data).toEqual({ endedCount: 1 });
    expect(await codeOf(other)).toBe("session_expired");
    expect(await codeOf(person.credential)).toBeUndefined();
    expect((await callAuth("/sign-in/email", { email: person.email, password: PASSWORD })).status).toBe(401);
    expect((await callAuth("/sign-in/email", { email: person.email, password: NEW })).status).toBe(200);
    expect((await eventsAbout(person.userId)).map(({ type }) => type)).toContain("password.changed");
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

  test("of two changes at the same time one succeeds", async () => {
    const person = await newPerson();
    const replies = await Promise.all([`${NEW} one`, `${NEW} two`].map((next) => change(person.credential, PASSWORD, next)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });
});
