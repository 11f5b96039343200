import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eq, inArray } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { completeOnboarding } from "#lib/identity/sessions/complete-onboarding.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { passkeysOf } from "#lib/identity/passkeys/store.ts";
import { account, passkey, user } from "#lib/identity/tables.ts";
import { sendMails } from "#lib/mail/send-mails.ts";
import { whileAway } from "#test/away.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, credentialOf, newInvitation, newOrganization, PASSWORD, signIn, type Owner } from "#test/identity.ts";
import { linkIn, linkTo, startSmtp, type Mailbox } from "#test/mail.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const newAddress = () => `${randomBytes(8).toString("hex")}@example.com`;
const signUp = (email: string, comeBack = {}) =>
  callAuth("/sign-up/email", { name: "Ada", email, password: PASSWORD, ...comeBack });
const confirm = (token: string) => callAuth("/verify-email", { token });
const tokenIn = async (response: Response) => ((await response.json()) as { token?: string }).token ?? "";
const NEW = "another long password";
const choose = (token: string, newPassword = NEW) => callAuth("/reset-password", { token, newPassword });
const tryPassword = async (email: string, password: string) => (await callAuth("/sign-in/email", { email, password })).status;

test("confirming an address requires a new password and ends the earlier sessions, links and passkeys", async () => {
  const email = newAddress();
  await signUp(email);
  const stranger = await signIn(email);
  const { userId } = (await send(contract.getSession, getSession, { as: stranger })).data.session.user;
  await database()
    .insert(passkey)
    .values({ id: userId, name: "x", publicKey: "", userId, credentialID: userId, counter: 0, deviceType: "x", backedUp: true });
  const { token } = await linkTo(email);
  // A sign-in runs while the address is confirmed. Its session must end too.
  const [confirmed, racing] = await Promise.all([confirm(token), callAuth("/sign-in/email", { email, password: PASSWORD })]);
  const session = async (as: Credential) => (await send(contract.getSession, getSession, { as })).status;
  if (racing.status === 200) expect(await session(credentialOf(racing))).toBe(401);
  expect([await session(stranger), await tryPassword(email, PASSWORD)]).toEqual([401, 401]);
  expect(await passkeysOf(database(), userId)).toEqual([]);
  const first = await tokenIn(confirmed);
  expect((await choose(first)).status).toBe(200);
  expect([await tryPassword(email, PASSWORD), await tryPassword(email, NEW)]).toEqual([401, 200]);
  // A second use of either link changes nothing: the account keeps the password that was chosen first.
  expect((await choose(first, "a third long password")).status).toBe(400);
  expect(await (await confirm(token)).json()).toEqual({ status: true });
  expect(await tryPassword(email, NEW)).toBe(200);
});

test("a confirmation that the lost database cannot save is answered by 503 and works later", async () => {
  const email = newAddress();
  await signUp(email);
  const { token } = await linkTo(email);
  const refused = await whileAway("UPDATE", user, () => confirm(token));
  expect([refused.status, await refused.json()]).toMatchObject([503, { code: "service_unavailable" }]);
  const confirmed = await confirm(token);
  expect([confirmed.status, (await choose(await tokenIn(confirmed))).status]).toEqual([200, 200]);
});

test("a password that is deleted during its comparison creates no session", async () => {
  const email = newAddress();
  await signUp(email);
  const racing = callAuth("/sign-in/email", { email, password: PASSWORD });
  await setTimeout(20);
  await database()
    .delete(account)
    .where(inArray(account.userId, database().select({ id: user.id }).from(user).where(eq(user.email, email))));
  const response = await racing;
  const status = response.ok
    ? (await send(contract.getSession, getSession, { as: credentialOf(response) })).status
    : response.status;
  expect(status).toBe(401);
});

test("a sandbox without SMTP offers to confirm an address and does not require it", async () => {
  const email = newAddress();
  await signUp(email);
  const credential = await signIn(email);
  const verified = async () => (await send(contract.getSession, getSession, { as: credential })).data.session.user.emailVerified;
  expect(await verified()).toBe(false);
  const { path, token } = await linkTo(email);
  expect(path).toMatch(/^\/verify-email\?token=/);
  expect((await choose(await tokenIn(await confirm(token)))).status).toBe(200);
  const again = await signIn(email, NEW);
  expect((await send(contract.getSession, getSession, { as: again })).data.session.user.emailVerified).toBe(true);
  expect((await confirm(`${token}x`)).status).toBe(401);
});

describe("with SMTP", () => {
  let smtp: Mailbox;
  let owner: Owner;
  beforeAll(async () => {
    owner = await newOrganization();
    smtp = await startSmtp();
  });
  afterAll(() => smtp.stop());

  async function received(email: string): Promise<string> {
    await sendMails();
    const found = smtp.received.findLast((text) => text.includes(`To: ${email}`)) ?? "";
    return found.replaceAll("=\r\n", "").replaceAll("=3D", "=").replaceAll("\r\n", "\n");
  }

  test("a password works only after the address is confirmed, and a wrong password gets the usual answer", async () => {
    const email = newAddress();
    await signUp(email, { callbackURL: "/invitations/cit_1" });
    expect((await callAuth("/sign-in/email", { email, password: "not the password" })).status).toBe(401);
    const refused = await callAuth("/sign-in/email", { email, password: PASSWORD });
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([403, "EMAIL_NOT_VERIFIED"]);
    const { path, token } = linkIn(await received(email));
    expect(path).toMatch(/^\/verify-email\?returnTo=%2Finvitations%2Fcit_1&token=/);
    const confirmed = await confirm(token);
    expect([confirmed.status, confirmed.headers.getSetCookie()]).toEqual([200, []]);
    await choose(await tokenIn(confirmed));
    await signIn(email, NEW);
  });

  test("a sign-up with a known address gets the usual answer, and the mailbox gets a mail", async () => {
    const email = newAddress();
    await signUp(email, { callbackURL: "/invitations/cit_1" });
    await confirm(linkIn(await received(email)).token);
    const shape = async (address: string) => {
      const response = await signUp(address);
      const { user, ...rest } = (await response.json()) as { user: Record<string, unknown> };
      return [response.status, rest, Object.keys(user), user["emailVerified"]];
    };
    expect(await shape(email)).toEqual(await shape(newAddress()));
    expect(await received(email)).toContain("You have an account already");
  });

  test("an invitation is accepted by an account whose address is confirmed", async () => {
    const email = newAddress();
    await signUp(email, { callbackURL: "/invitations/cit_1" });
    const { token } = linkIn(await received(email));
    await choose(await tokenIn(await confirm(token)));
    const guest = { credential: await signIn(email, NEW) };
    const invitationToken = await newInvitation(owner, email, "viewer");
    const accept = async () => {
      const body = { organizationName: "ignored", productRoles: ["buyer"], invitationToken };
      return (await send(contract.completeOnboarding, completeOnboarding, { body, as: guest.credential })).status;
    };
    await database().update(user).set({ emailVerified: false }).where(eq(user.email, email));
    expect(await accept()).toBe(403);
    await database().update(user).set({ emailVerified: true }).where(eq(user.email, email));
    expect(await accept()).toBe(200);
  });

  test("another confirmation mail is sent on request, only to an account whose address is not confirmed", async () => {
    const email = newAddress();
    await signUp(email, { callbackURL: "/invitations/cit_1" });
    await received(email);
    const before = smtp.received.length;
    const again = await callAuth("/send-verification-email", { email });
    const unknown = await callAuth("/send-verification-email", { email: newAddress() });
    expect([again.status, await again.text()]).toEqual([unknown.status, await unknown.text()]);
    await sendMails();
    expect(smtp.received).toHaveLength(before + 1);
  });
});
