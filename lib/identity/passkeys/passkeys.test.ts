import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { noteAddress } from "#lib/http/address.ts";
import { confirmIdentity } from "#lib/identity/passkeys/confirm-identity.ts";
import * as identity from "#lib/identity/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import * as contract from "#lib/identity/passkeys/passkey-contract.ts";
import { registerPasskey } from "#lib/identity/passkeys/register-passkey.ts";
import { removePasskey } from "#lib/identity/passkeys/remove-passkey.ts";
import { renamePasskey } from "#lib/identity/passkeys/rename-passkey.ts";
import { serveAuth } from "#lib/server/serve-auth.ts";
import { account, passkey, session } from "#lib/identity/tables.ts";
import { newestKept } from "#lib/mail/store.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, credentialOf, newPerson, PASSWORD, type Person } from "#test/identity.ts";
import { add, Authenticator, challenge, newPasskey, registration, type AssertionOptions } from "#test/passkeys.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const rename = (as: Credential, id: string, name: string) =>
  send(contract.renamePasskey, renamePasskey, { as, id, body: { name } });
const remove = (as: Credential, id: string) => send(contract.removePasskey, removePasskey, { as, id, body: {} });
const confirm = (as: Credential, body: unknown) => send(contract.confirmIdentity, confirmIdentity, { as, body });
const rowsOf = ({ userId }: Person) => database().select().from(passkey).where(eq(passkey.userId, userId));

/** Moves the person's sign-in into the past. */
const waited = ({ userId }: Person) =>
  database()
    .update(session)
    .set({ provedAt: new Date(Date.now() - 6 * 60_000) })
    .where(eq(session.userId, userId));

/** Signs in like a browser: options, cookie, signature. */
async function signInBy(authenticator: Authenticator, signed: AssertionOptions = {}): Promise<Response> {
  const asked = new Request(`${env().BASE_URL}/api/auth/passkey/generate-authenticate-options`);
  noteAddress(asked, `10.9.${Math.floor(Math.random() * 250)}.${Math.floor(Math.random() * 250)}`);
  const options = await serveAuth(asked);
  const { challenge: issued } = (await options.json()) as { challenge: string };
  const [line = ""] = options.headers.getSetCookie();
  expect(line).toMatch(/passkey_challenge=.*HttpOnly.*SameSite=Lax/i);
  const cookie = line.slice(0, line.indexOf(";"));
  return callAuth("/passkey/verify-authentication", { response: authenticator.sign(issued, signed) }, { cookie });
}

describe("a passkey", () => {
  test("is added, named and removed, each with an event and a mail", async () => {
    const person = await newPerson();
    const { passkeyId, authenticator } = await newPasskey(person.credential);
    expect(await rowsOf(person)).toMatchObject([{ id: passkeyId, credentialID: authenticator.credentialId, counter: 1 }]);
    expect((await rename(person.credential, passkeyId, "Phone")).data).toMatchObject({ passkeyId, name: "Phone", synced: false });
    expect((await remove(person.credential, passkeyId)).status).toBe(200);
    expect((await remove(person.credential, passkeyId)).problem.code).toBe("not_found");
    expect(await rowsOf(person)).toEqual([]);
    const events = await database().select().from(auditEvents).where(eq(auditEvents.entityId, passkeyId));
    expect(events.map(({ type, actorId }) => [type, actorId])).toEqual([
      ["passkey.added", person.userId],
      ["passkey.removed", person.userId],
    ]);
    const mails = (await newestKept(20)).filter(({ recipient }) => recipient === person.email);
    expect(mails.map(({ subject }) => subject).slice(0, 2)).toEqual([
      "A passkey was removed from your account",
      "A passkey was added to your account",
    ]);
  });

  test.each<readonly [string, AssertionOptions]>([
    ["without user verification", { verified: false }],
    ["for another relying party", { rpId: "evil.example" }],
    ["from another origin", { origin: "https://evil.example" }],
  ])("made %s is refused, and so is its challenge afterwards", async (_, how) => {
    const person = await newPerson();
    const issued = await registration(person.credential);
    const authenticator = new Authenticator();
    const refused = await add(person.credential, authenticator.create(issued, how));
    expect([refused.status, refused.problem.errors?.[0]?.pointer]).toEqual([400, "/credential"]);
    expect((await add(person.credential, authenticator.create(issued))).status).toBe(400);
    expect(await rowsOf(person)).toEqual([]);
  });

  test("belongs to one person only, and a registration to one session", async () => {
    const [one, two] = [await newPerson(), await newPerson()];
    const { authenticator } = await newPasskey(one.credential);
    const taken = await add(two.credential, authenticator.create(await registration(two.credential)));
    expect(taken.problem.code).toBe("conflict");
    const foreign = new Authenticator().create(await registration(one.credential));
    expect((await add(two.credential, foreign)).status).toBe(400);
  });

  test("an old session neither adds nor removes one before the person proves their identity again", async () => {
    const person = await newPerson();
    const as = person.credential;
    const { passkeyId, authenticator } = await newPasskey(as);
    const early = await registration(as);
    await waited(person);
    expect((await send(contract.registerPasskey, registerPasskey, { as, body: {} })).problem.code).toBe("step_up_required");
    expect((await add(as, new Authenticator().create(early))).problem.code).toBe("step_up_required");
    expect((await remove(as, passkeyId)).problem.code).toBe("step_up_required");
    expect((await confirm(as, { password: "not the password" })).problem.errors?.[0]?.pointer).toBe("/password");
    expect((await confirm(as, { assertion: authenticator.sign(await challenge(as), { verified: false }) })).status).toBe(400);
    expect((await remove(as, passkeyId)).problem.code).toBe("step_up_required");
    expect((await confirm(as, { assertion: authenticator.sign(await challenge(as)) })).status).toBe(200);
    expect((await add(as, new Authenticator().create(await registration(as)))).status).toBe(201);
    await waited(person);
    expect((await confirm(as, { password: PASSWORD })).status).toBe(200);
    expect((await remove(as, passkeyId)).status).toBe(200);
  });

  test("a session that ends during the registration adds none", async () => {
    const person = await newPerson();
    const made = new Authenticator().create(await registration(person.credential));
    const adding = await database().transaction(async (tx) => {
      await tx.delete(session).where(eq(session.userId, person.userId));
      // Other connections still see the session until this transaction commits.
      return [add(person.credential, made)];
    });
    expect((await adding[0]!).problem.code).toBe("session_expired");
    expect(await rowsOf(person)).toEqual([]);
  });

  test("the last way to sign in cannot be removed, even if the last two are removed at once", async () => {
    const person = await newPerson();
    const keys = [await newPasskey(person.credential), await newPasskey(person.credential)];
    await database().delete(account).where(eq(account.userId, person.userId));
    const replies = await Promise.all(keys.map(({ passkeyId }) => remove(person.credential, passkeyId)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await rowsOf(person)).toHaveLength(1);
  });
});

describe("signing in with a passkey", () => {
  test("makes a session that names the passkey as its method", async () => {
    const person = await newPerson();
    const { authenticator, passkeyId } = await newPasskey(person.credential);
    const response = await signInBy(authenticator);
    expect(response.status).toBe(200);
    const { data } = await send(identity.getSession, getSession, { as: credentialOf(response) });
    expect(data.session).toMatchObject({ provider: "passkey", authMethods: { passkey: true }, user: { userId: person.userId } });
    const [row] = await database().select().from(passkey).where(eq(passkey.id, passkeyId));
    expect(row).toMatchObject({ counter: 2, lastUsedAt: expect.any(Date) });
  });

  test.each<readonly [string, AssertionOptions]>([
    ["without user verification", { verified: false }],
    ["for another relying party", { rpId: "evil.example" }],
    ["from another origin", { origin: "https://evil.example" }],
    ["with a counter that went back", { counter: 1 }],
  ])("%s is refused", async (_, how) => {
    const person = await newPerson();
    const { authenticator } = await newPasskey(person.credential);
    const response = await signInBy(authenticator, how);
    expect([400, 401]).toContain(response.status);
    expect(response.headers.getSetCookie().join()).not.toContain("session_token=");
  });

  test("no longer works after the passkey was removed", async () => {
    const person = await newPerson();
    const { authenticator, passkeyId } = await newPasskey(person.credential);
    await remove(person.credential, passkeyId);
    expect((await signInBy(authenticator)).status).toBe(401);
  });
});
