import { randomBytes } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { passkeysOf } from "#lib/identity/passkeys/store.ts";
import { passkey, user, verification } from "#lib/identity/tables.ts";
import { whileAway } from "#test/away.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, credentialOf, newPerson, PASSWORD, signIn } from "#test/identity.ts";
import { linkTo, mailsTo } from "#test/mail.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const newAddress = () => `${randomBytes(8).toString("hex")}@example.com`;
const ask = (email: string, more = {}) => callAuth("/sign-in/magic-link", { email, ...more });
const open = (token: string, headers = {}) => callAuth("/magic-link/verify", { token }, headers);

const newPasskeyRow = (userId: string) =>
  database()
    .insert(passkey)
    .values({
      id: randomBytes(8).toString("hex"),
      name: "Laptop",
      publicKey: "key",
      userId,
      credentialID: randomBytes(8).toString("hex"),
      counter: 0,
      deviceType: "singleDevice",
      backedUp: false,
    });

async function enter(email: string) {
  await ask(email);
  const response = await open((await linkTo(email)).token);
  expect(response.status).toBe(200);
  return (await send(contract.getSession, getSession, { as: credentialOf(response) })).data.session;
}

describe("signing in by a link", () => {
  test("the link signs in once, and the session names the method", async () => {
    const email = newAddress();
    await ask(email, { callbackURL: "/checkout/cki_1" });
    const { path, token } = await linkTo(email);
    expect(path).toMatch(/^\/sign-in\/link\?returnTo=%2Fcheckout%2Fcki_1&token=/);
    const response = await open(token);
    expect(await response.json()).toEqual({ status: true });
    const { data } = await send(contract.getSession, getSession, { as: credentialOf(response) });
    expect(data.session).toMatchObject({
      provider: "magicLink",
      user: { email, emailVerified: true, name: email.split("@")[0] },
    });
    expect((await open(token)).status).toBe(401);
  });

  test("if several people open a link at the same time, one is signed in", async () => {
    const email = newAddress();
    await ask(email);
    const { token } = await linkTo(email);
    const answers = await Promise.all(Array.from({ length: 8 }, () => open(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 401)]);
  });

  test("a link that the lost database cannot check is answered by 503 and works later", async () => {
    const email = newAddress();
    await ask(email);
    const { token } = await linkTo(email);
    const refused = await whileAway("DELETE", verification, () => open(token));
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: "service_unavailable" }]);
    expect((await open(token)).status).toBe(200);
  });

  test("a link is refused after 15 minutes, from another site, with GET, and if its token is invented", async () => {
    const email = newAddress();
    await ask(email);
    const { token } = await linkTo(email);
    expect((await open(token, { origin: "https://evil.example" })).status).toBe(403);
    expect((await open(token, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await open("x".repeat(32))).status).toBe(401);
    const [row] = await mailsTo(email);
    expect(row!.usefulUntil!.getTime() - row!.createdAt.getTime()).toBeLessThanOrEqual(900_000);
    await database()
      .update(verification)
      .set({ expiresAt: sql`statement_timestamp() - interval '1 second'` });
    expect((await open(token)).status).toBe(401);
  });

  test("the token is in the mail and not in the database", async () => {
    const email = newAddress();
    await ask(email);
    const { token } = await linkTo(email);
    expect(JSON.stringify(await database().select().from(verification))).not.toContain(token);
  });

  test("a known and a new address get the same answer", async () => {
    const { email } = await newPerson();
    const answer = async (address: string) => {
      const response = await ask(address);
      return [response.status, await response.text(), [...response.headers.keys()]];
    };
    expect(await answer(email)).toEqual(await answer(newAddress()));
  });

  test("the owner of the mailbox takes over an unconfirmed account that somebody else created with its address", async () => {
    const { email, userId, credential } = await newPerson();
    await newPasskeyRow(userId);
    await ask(email);
    const opened = await open((await linkTo(email)).token);
    const { session } = (await send(contract.getSession, getSession, { as: credentialOf(opened) })).data;
    expect(await passkeysOf(database(), userId)).toEqual([]);
    expect(session.user).toMatchObject({ userId, emailVerified: true });
    expect((await callAuth("/sign-in/email", { email, password: PASSWORD })).status).toBe(401);
    expect((await send(contract.getSession, getSession, { as: credential })).status).toBe(401);
    const { token } = (await opened.json()) as { token: string };
    expect((await callAuth("/reset-password", { token, newPassword: "another long password" })).status).toBe(200);
    await signIn(email, "another long password");
  });

  test("a confirmed account keeps its password and its passkeys", async () => {
    const { email, userId } = await newPerson();
    await newPasskeyRow(userId);
    await database().update(user).set({ emailVerified: true }).where(eq(user.email, email));
    await enter(email);
    expect((await callAuth("/sign-in/email", { email, password: PASSWORD })).status).toBe(200);
    expect(await passkeysOf(database(), userId)).toHaveLength(1);
  });

  test("one mailbox gets at most five mails in 15 minutes, and the answer does not show this", async () => {
    const email = newAddress();
    for (let index = 0; index < 7; index += 1) expect((await ask(email)).status).toBe(200);
    expect(await mailsTo(email)).toHaveLength(5);
  });

  test("429 after ten tries of one address", async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 11; index += 1) {
      statuses.push((await callAuth("/magic-link/verify", { token: `guess${index}` }, {}, "198.51.100.7")).status);
    }
    expect(statuses.slice(9)).toEqual([401, 429]);
  });
});
