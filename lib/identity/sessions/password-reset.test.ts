import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as contract from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, newPerson, PASSWORD, signIn } from "#test/identity.ts";
import { linkTo, mailsTo } from "#test/mail.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const NEW = "another long password";
const ask = (email: string) => callAuth("/request-password-reset", { email, redirectTo: "/payments" });
const reset = (token: string, newPassword = NEW) => callAuth("/reset-password", { token, newPassword });

describe("resetting a password", () => {
  test("the link sets the password once, ends every session, and a mail is sent", async () => {
    const { email, credential } = await newPerson();
    await ask(email);
    const { path, token } = await linkTo(email);
    expect(path).toMatch(/^\/reset-password\?returnTo=%2Fpayments&token=/);
    expect((await reset(token, "short")).status).toBe(400);
    expect((await reset(token)).status).toBe(200);
    expect((await send(contract.getSession, getSession, { as: credential })).status).toBe(401);
    expect((await callAuth("/sign-in/email", { email, password: PASSWORD })).status).toBe(401);
    await signIn(email, NEW);
    expect((await mailsTo(email))[0]?.subject).toBe("Your password was changed");
    expect((await reset(token, "a third long password")).status).toBe(400);
    await signIn(email, NEW);
  });

  test("a known and an unknown address get the same answer, and only the known one gets a mail", async () => {
    const { email } = await newPerson();
    const unknown = `${randomBytes(8).toString("hex")}@example.com`;
    const [known, other] = [await ask(email), await ask(unknown)];
    expect([known.status, await known.text()]).toEqual([other.status, await other.text()]);
    expect((await mailsTo(email))[0]?.subject).toBe("Choose a new password");
    expect(await mailsTo(unknown)).toEqual([]);
  });

  test("a person without a password can set one with a reset link", async () => {
    const email = `${randomBytes(8).toString("hex")}@example.com`;
    await callAuth("/sign-in/magic-link", { email });
    await callAuth("/magic-link/verify", { token: (await linkTo(email)).token });
    await ask(email);
    expect((await reset((await linkTo(email)).token)).status).toBe(200);
    await signIn(email, NEW);
  });
});
