import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { noteAddress } from "#lib/http/address.ts";
import * as identity from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { passkey } from "#lib/identity/tables.ts";
import { serveAuth } from "#lib/server/serve-auth.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, credentialOf, newPerson } from "#test/identity.ts";
import { newPasskey, remove, type Authenticator, type AssertionOptions } from "#test/passkeys.ts";
import { send } from "#test/tenant.ts";

useDatabase();

/** Signs in as a browser does: asks for options, keeps the cookie, and sends the signed challenge. */
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
