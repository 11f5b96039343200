import { eq } from "drizzle-orm";
import { afterAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { auth } from "#lib/identity/sessions/auth.ts";
import { disabledPaths, servedPaths } from "#lib/identity/sessions/auth-paths.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { serveAuth } from "#lib/server/serve-auth.ts";
import { account, rateLimit, session, user } from "#lib/identity/tables.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, credentialOf, newPerson, PASSWORD, signIn } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const registered = (): string[] => {
  const endpoints = Object.values(auth().api as unknown as Readonly<Record<string, { readonly path?: string }>>);
  return [...new Set(endpoints.flatMap(({ path }) => (path === undefined ? [] : [path])))];
};

describe("endpoints of better-auth", () => {
  test("every registered endpoint is either served or disabled", () => {
    const known: readonly string[] = [...servedPaths, ...disabledPaths];
    expect(registered().filter((path) => !known.includes(path))).toEqual([]);
    expect(known.filter((path) => !registered().includes(path))).toEqual([]);
    expect(new Set(known).size).toBe(known.length);
  });

  test("404 for every endpoint that is not served, however the path is written", async () => {
    const paths = registered().filter((path) => !(servedPaths as readonly string[]).includes(path));
    for (const path of [...paths, "//sign-out", "/sign-out/", "/sign%2Dout", "/organization/../organization/create"]) {
      for (const method of ["GET", "POST"]) {
        const response = await serveAuth(new Request(`${env().BASE_URL}/api/auth${path}`, { method }));
        expect([path, response.status]).toEqual([path, 404]);
      }
    }
  });

  test("405 names the allowed method", async () => {
    const response = await serveAuth(new Request(`${env().BASE_URL}/api/auth/sign-out`, { method: "PUT" }));
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

describe("signing up", () => {
  test("a sign-up stores a user and an account, whose ids have the prefixes of this service", async () => {
    const { userId, email } = await newPerson();
    expect(userId).toMatch(/^usr_[0-9a-z]{26}$/);
    const [found] = await database().select().from(account).where(eq(account.userId, userId));
    expect(found?.id).toMatch(/^acc_/);
    expect(found?.password).not.toContain(PASSWORD);
    const [row] = await database().select().from(session).where(eq(session.userId, userId));
    expect(row).toMatchObject({ provider: "emailPassword", id: expect.stringMatching(/^ses_/) });
    const [person] = await database().select().from(user).where(eq(user.email, email));
    expect(person).toMatchObject({ platformRoles: ["user"], banned: false });
  });

  test("a sign-up with a known address gets the same answer as with a new one, and changes nothing", async () => {
    const { email, userId } = await newPerson("Ada");
    const shape = async (address: string) => {
      const response = await callAuth("/sign-up/email", { name: "Eve", email: address, password: "another long password" });
      const body = (await response.json()) as { token: unknown; user: Record<string, unknown> };
      const { id, email: _, createdAt, updatedAt, ...rest } = body.user;
      expect([typeof id, typeof createdAt, typeof updatedAt]).toEqual(["string", "string", "string"]);
      expect(String(id)).toMatch(/^usr_/);
      return { status: response.status, cookies: response.headers.getSetCookie(), token: body.token, rest };
    };
    expect(await shape(email)).toEqual(await shape(`new-${email}`));
    expect(await shape(email.toUpperCase())).toMatchObject({ status: 200 });
    expect(await database().select({ name: user.name }).from(user).where(eq(user.id, userId))).toEqual([{ name: "Ada" }]);
    expect((await callAuth("/sign-in/email", { email, password: "another long password" })).status).toBe(401);
  });

  test("400 points at fields that only the service writes", async () => {
    const body = { name: "Eve", email: "eve@example.com", password: PASSWORD };
    for (const field of ["platformRoles", "emailVerified", "banned", "auditedAt", "id", "role", "image", "rememberMe"]) {
      const response = await callAuth("/sign-up/email", { ...body, [field]: ["admin"] });
      expect([response.status, ((await response.json()) as { errors: unknown }).errors]).toEqual([
        400,
        [{ detail: "This field is not known.", pointer: `/${field}` }],
      ]);
    }
    expect(await database().select().from(user).where(eq(user.email, body.email))).toEqual([]);
  });

  test("400 for a return page of another origin, and for an address that is reserved for wallets", async () => {
    const body = { name: "Eve", email: "eve@example.com", password: PASSWORD };
    for (const callbackURL of ["https://evil.example", "//evil.example", "/\\\\evil.example", "/api/v1/audit/verify", ""]) {
      expect([callbackURL, (await callAuth("/sign-up/email", { ...body, callbackURL })).status]).toEqual([callbackURL, 400]);
    }
    const taken = `0x${"ab".repeat(20)}@siwe.placeholder.invalid`;
    for (const path of ["/sign-up/email", "/sign-in/magic-link", "/request-password-reset"]) {
      const given = path === "/sign-up/email" ? { ...body, email: taken } : { email: taken };
      expect([path, (await callAuth(path, given)).status]).toEqual([path, 400]);
    }
  });

  test("400 for a name, address or password that is not acceptable", async () => {
    const body = { name: "Eve", email: "eve@example.com", password: PASSWORD };
    const bad = [
      { ...body, password: "short" },
      { ...body, password: "x".repeat(129) },
      { ...body, email: "eve" },
      { ...body, name: "" },
      { ...body, name: "x".repeat(201) },
      { ...body, name: "E\u0000ve" },
    ];
    for (const one of bad) expect((await callAuth("/sign-up/email", one)).status).toBe(400);
  });
});

describe("signing in", () => {
  test("401 is the same for a wrong password and an unknown address", async () => {
    const { email } = await newPerson();
    const wrong = await callAuth("/sign-in/email", { email, password: "not the password" });
    const unknown = await callAuth("/sign-in/email", { email: `no-${email}`, password: "not the password" });
    expect([wrong.status, await wrong.text()]).toEqual([unknown.status, await unknown.text()]);
    expect(wrong.status).toBe(401);
  });

  test("every sign-in makes a new session, also if the request has a session cookie", async () => {
    const { email, credential } = await newPerson();
    const fixed = { cookie: "countersign.session_token=chosen-by-eve.AAAA" };
    const cookies = new Set<string>();
    for (const headers of [credential, fixed, {}]) {
      const response = await callAuth("/sign-in/email", { email, password: PASSWORD }, headers);
      cookies.add(credentialOf(response)["cookie"]!);
    }
    expect(cookies.size).toBe(3);
    expect(cookies).not.toContain(credential["cookie"]);
    expect([...cookies].join()).not.toContain("chosen-by-eve");
  });

  test("a session ends at once when the person signs out", async () => {
    const { email } = await newPerson();
    const credential = await signIn(email);
    expect((await send(contract.getSession, getSession, { as: credential })).status).toBe(200);
    expect((await callAuth("/sign-out", {}, credential)).status).toBe(200);
    expect((await send(contract.getSession, getSession, { as: credential })).problem.code).toBe("session_expired");
  });

  test("no session lasts longer than twelve hours, with or without rememberMe", async () => {
    const { email, userId } = await newPerson();
    await callAuth("/sign-in/email", { email, password: PASSWORD, rememberMe: false });
    const rows = await database().select({ expiresAt: session.expiresAt }).from(session).where(eq(session.userId, userId));
    expect(rows).toHaveLength(2);
    for (const { expiresAt } of rows) expect(expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 12 * 3_600_000);
  });

  test("429 after ten tries from one network address, counted in the database; forged headers change nothing", async () => {
    const { email } = await newPerson();
    const address = "192.0.2.7";
    const tries = [];
    for (let at = 0; at < 12; at += 1) {
      const spoofed = { "x-forwarded-for": `198.51.100.${at}`, "x-countersign-address": `203.0.113.${at}` };
      tries.push((await callAuth("/sign-in/email", { email, password: "not the password" }, spoofed, address)).status);
    }
    expect(tries).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    expect((await callAuth("/sign-in/email", { email, password: PASSWORD }, {}, "192.0.2.8")).status).toBe(200);
    const keys = (await database().select({ key: rateLimit.key }).from(rateLimit)).map(({ key }) => key);
    expect(keys.some((key) => key.includes(address) && key.includes("/sign-in/email"))).toBe(true);
  });

  test("429 after thirty tries for one account, from any number of network addresses, whether the account exists or not", async () => {
    const { email } = await newPerson();
    const told = async (address: string) => {
      // Set the counter to just below thirty tries, because each real try takes 0.1 s.
      await database()
        .insert(rateLimit)
        .values({ id: crypto.randomUUID(), key: `signIn:${address}`, count: 29, lastRequest: Date.now() });
      const answers = [];
      for (const typed of [address, address.toUpperCase()]) {
        const response = await callAuth("/sign-in/email", { email: typed, password: "not the password" });
        answers.push([response.status, response.headers.get("retry-after"), ((await response.json()) as { code: string }).code]);
      }
      return answers;
    };
    const known = await told(email);
    expect(known).toEqual([
      [401, null, "INVALID_EMAIL_OR_PASSWORD"],
      [429, "900", "rate_limited"],
    ]);
    expect(await told(`nobody-${email}`)).toEqual(known);
  });

  test("tries from other network addresses do not lock out a network address that has signed in before", async () => {
    const { email } = await newPerson();
    const [home, elsewhere] = ["192.0.2.41", "192.0.2.42"];
    const tries = (address: string, password: string) => callAuth("/sign-in/email", { email, password }, {}, address);
    expect((await tries(home, PASSWORD)).status).toBe(200);
    await database()
      .insert(rateLimit)
      .values({ id: crypto.randomUUID(), key: `signIn:${email}`, count: 30, lastRequest: Date.now() })
      .onConflictDoUpdate({ target: rateLimit.key, set: { count: 30, lastRequest: Date.now() } });
    expect((await tries(elsewhere, PASSWORD)).status).toBe(429);
    expect((await tries(home, PASSWORD)).status).toBe(200);
  });

  test("403 for a POST from a page of another origin with the cookie", async () => {
    const { email, credential } = await newPerson();
    const headers = { ...credential, origin: "https://evil.example" };
    expect((await callAuth("/sign-in/email", { email, password: PASSWORD }, headers)).status).toBe(403);
    expect((await callAuth("/sign-out", {}, headers)).status).toBe(403);
    expect((await send(contract.getSession, getSession, { as: credential })).status).toBe(200);
  });

  test("415 for a form, 413 for a body that is too large", async () => {
    expect((await callAuth("/sign-in/email", {}, { "content-type": "text/plain" })).status).toBe(415);
    expect((await callAuth("/sign-in/email", { email: "x".repeat(70_000) })).status).toBe(413);
  });
});

describe("cookies", () => {
  afterAll(() => {
    process.env["BASE_URL"] = "http://localhost:3000";
    forget("env", "identity/sessions/auth");
  });

  test("over http the cookie is HttpOnly and Lax; over https it is Secure and bound to the host", async () => {
    const lineFor = async () => {
      const { email } = await newPerson();
      const response = await callAuth("/sign-in/email", { email, password: PASSWORD });
      const line = response.headers.getSetCookie().find((one) => one.includes(".session_token="));
      return (line ?? "")
        .replace(/=[^;]*/, "=…")
        .split("; ")
        .toSorted();
    };
    expect(await lineFor()).toEqual(["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Lax", "countersign.session_token=…"]);
    process.env["BASE_URL"] = "https://pay.example.com";
    forget("env", "identity/sessions/auth");
    const secure = ["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Lax", "Secure", "__Host-countersign.session_token=…"];
    expect(await lineFor()).toEqual(secure);
    const { credential } = await newPerson();
    expect((await send(contract.getSession, getSession, { as: credential })).status).toBe(200);
    expect((await send(contract.getSession, getSession, { as: { ...credential, origin: "http://localhost:3000" } })).status).toBe(
      200,
    );
  });
});
