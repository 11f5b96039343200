import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { serveAuth } from "#lib/server/serve-auth.ts";
import { account, user } from "#lib/identity/tables.ts";
import { sendMails } from "#lib/mail/send-mails.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, credentialOf, newPerson } from "#test/identity.ts";
import { linkIn, startSmtp } from "#test/mail.ts";
import { startProviders, type Profile, type Providers } from "#test/providers.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const names = ["GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET", "GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET"];
function configure(values: Readonly<Record<string, string>>): void {
  for (const name of names) delete process.env[name];
  Object.assign(process.env, values);
  forget("env", "identity/sessions/auth");
}
afterAll(() => configure({}));

const begin = (provider: string, more = {}) => callAuth("/sign-in/social", { provider, callbackURL: "/payments", ...more });
const callback = (provider: string, query: string, cookie: string) =>
  serveAuth(new Request(`${env().BASE_URL}/api/auth/callback/${provider}?${query}`, { headers: { cookie } }));

const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((line) => line.slice(0, line.indexOf(";")))
    .join("; ");

test("404 for each provider that is not configured", async () => {
  configure({});
  expect((await begin("google")).status).toBe(404);
  configure({ GITHUB_CLIENT_ID: "hub", GITHUB_CLIENT_SECRET: "hub secret" });
  expect((await callback("google", "code=1&state=1", "")).status).toBe(404);
  expect((await begin("google")).status).toBe(404);
  expect((await begin("github")).status).toBe(200);
});

test("a client id without its secret is refused at the start", () => {
  configure({ GOOGLE_CLIENT_ID: "goo" });
  expect(() => env()).toThrow("GOOGLE_CLIENT_SECRET must be given, as GOOGLE_CLIENT_ID is");
  configure({});
});

describe.each(["google", "github"] as const)("signing in with %s", (provider) => {
  let providers: Providers;
  beforeAll(async () => {
    configure({
      GOOGLE_CLIENT_ID: "goo",
      GOOGLE_CLIENT_SECRET: "goo secret",
      GITHUB_CLIENT_ID: "hub",
      GITHUB_CLIENT_SECRET: "hub secret",
    });
    providers = await startProviders();
  });
  afterAll(() => providers.stop());

  async function enter(profile: Profile, change: (query: URLSearchParams) => void = () => {}) {
    const begun = await begin(provider, { errorCallbackURL: "/sign-in?returnTo=%2Fpayments" });
    const url = new URL(((await begun.json()) as { url: string }).url);
    const query = new URLSearchParams({ code: providers.grant(profile), state: url.searchParams.get("state") ?? "" });
    change(query);
    return { url, cookie: cookiesOf(begun), query, response: await callback(provider, query.toString(), cookiesOf(begun)) };
  }
  const sessionOf = async (response: Response) =>
    (await send(contract.getSession, getSession, { as: credentialOf(response) })).data.session;
  const newProfile = (more: Partial<Profile> = {}): Profile => ({
    id: crypto.randomUUID(),
    email: `${crypto.randomUUID()}@example.com`,
    name: "Mira",
    verified: true,
    ...more,
  });

  test("the person is sent to the provider with the client id, a state and PKCE, and returns signed in", async () => {
    const profile = newProfile();
    const { url, response } = await enter(profile);
    expect(url.host).toBe(provider === "google" ? "accounts.google.com" : "github.com");
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: provider === "google" ? "goo" : "hub",
      redirect_uri: `${env().BASE_URL}/api/auth/callback/${provider}`,
      response_type: "code",
      state: expect.stringMatching(/^.{20,}$/),
      code_challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      code_challenge_method: "S256",
    });
    expect([response.status, response.headers.get("location")]).toEqual([302, "/payments"]);
    expect(providers.challengeOf(profile)).toBe(url.searchParams.get("code_challenge"));
    expect(await sessionOf(response)).toMatchObject({
      provider,
      user: { email: profile.email, name: "Mira", emailVerified: true },
    });
  });

  test("the same person signs in to the same account, and no token of the provider is stored", async () => {
    const profile = newProfile();
    const { userId } = (await sessionOf((await enter(profile)).response)).user;
    expect((await sessionOf((await enter(profile)).response)).user.userId).toBe(userId);
    const rows = await database().select().from(account).where(eq(account.userId, userId));
    expect(rows).toMatchObject([{ providerId: provider, accessToken: null, refreshToken: null, idToken: null }]);
  });

  test("signs in to a confirmed account with the same address, and never to an unconfirmed account", async () => {
    const known = await newPerson();
    const { response } = await enter(newProfile({ email: known.email }));
    const location = new URL(response.headers.get("location") ?? "", env().BASE_URL);
    expect([location.pathname, location.searchParams.get("error")]).toEqual(["/sign-in", "account_not_linked"]);
    expect(location.searchParams.get("returnTo")).toBe("/payments");
    await database().update(user).set({ emailVerified: true }).where(eq(user.id, known.userId));
    expect((await sessionOf((await enter(newProfile({ email: known.email }))).response)).user.userId).toBe(known.userId);
  });

  test("an address that the provider has not confirmed opens no account", async () => {
    const known = await newPerson();
    await database().update(user).set({ emailVerified: true }).where(eq(user.id, known.userId));
    const { response } = await enter(newProfile({ email: known.email, verified: false }));
    expect(response.headers.get("location")).toContain("error=account_not_linked");
    expect(response.headers.getSetCookie().join()).not.toContain("session_token");
  });

  test("with SMTP, an address that the provider has not confirmed must be confirmed by mail first", async () => {
    const smtp = await startSmtp();
    try {
      const profile = newProfile({ verified: false });
      const { response } = await enter(profile);
      expect(response.headers.get("location")).toContain("error=email_not_verified");
      expect(response.headers.getSetCookie().join()).not.toContain("session_token");
      await sendMails();
      expect(smtp.received.join()).toContain(`To: ${profile.email}`);
      await callAuth("/verify-email", {
        token: linkIn(smtp.received.at(-1)!.replaceAll("=\r\n", "").replaceAll("=3D", "=")).token,
      });
      // The first provider had not confirmed the address, so its account may belong to another person. That sign-in method is
      // therefore removed.
      expect((await enter(profile)).response.headers.get("location")).toContain("error=account_not_linked");
    } finally {
      await smtp.stop();
    }
  });

  test("another browser, an invented state and an invalid code get no session", async () => {
    const { query } = await enter(newProfile(), (query) => query.set("code", "made up"));
    const begun = await begin(provider);
    const state = new URL(((await begun.json()) as { url: string }).url).searchParams.get("state") ?? "";
    const code = providers.grant(newProfile());
    const tries = [
      await callback(provider, query.toString(), ""),
      await callback(provider, new URLSearchParams({ code, state }).toString(), ""),
      await callback(provider, new URLSearchParams({ code, state: "made up" }).toString(), cookiesOf(begun)),
      await callback(provider, new URLSearchParams({ code: "made up", state }).toString(), cookiesOf(begun)),
    ];
    for (const response of tries) {
      expect(response.status).toBe(302);
      expect(new URL(response.headers.get("location") ?? "", env().BASE_URL).pathname).toBe("/sign-in");
      expect(response.headers.getSetCookie().join()).not.toContain("session_token");
    }
  });
});
