import { eq } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database, batchPool } from "#lib/db/client.ts";
import { Pool } from "#lib/db/pool.ts";
import { env } from "#lib/env.ts";
import { newApiKey } from "#lib/identity/keys/api-key.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import * as keys from "#lib/identity/keys/contract.ts";
import * as sessions from "#lib/identity/sessions/contract.ts";
import { createServiceAccount } from "#lib/identity/keys/create-service-account.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { sessionCookieLine } from "#lib/identity/sessions/session-cookie.ts";
import { apiKeys, member, organization, session, user } from "#lib/identity/tables.ts";
import { isProblem } from "#lib/problem.ts";
import { forget, perProcess } from "#lib/process.ts";
import * as audit from "#lib/audit/contract.ts";
import { listAuditEvents } from "#lib/audit/list-audit-events.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization, newPerson, type Agent, type Owner } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();
let owner: Owner;
let agent: Agent;

beforeAll(async () => {
  owner = await newOrganization();
  agent = await newKey(owner, ["audit:read"]);
});

const request = (headers: Credential, method = "GET") =>
  new Request(`${env().BASE_URL}/api/v1/auth/session`, { method, headers });

const refusalOf = async (headers: Credential, method = "GET") => {
  try {
    return await authenticate(request(headers, method));
  } catch (error) {
    return isProblem(error) ? error.code : error;
  }
};

const askAudit = (as: Credential) => send(audit.listAuditEvents, listAuditEvents, { as });
const askSession = (as: Credential) => send(sessions.getSession, getSession, { as });

describe("authenticate with a key", () => {
  test("a key acts as its service account, with the stored capabilities", async () => {
    const caller = await authenticate(request(agent.credential));
    expect(caller).toMatchObject({
      kind: "key",
      subjectId: agent.serviceAccountId,
      organizationId: owner.organizationId,
      environment: "sandbox",
    });
    expect([...caller!.capabilities]).toEqual(["audit:read"]);
  });

  test("401 has the same body for mistyped, unknown, revoked and expired keys, and keys of another environment", async () => {
    const [revoked, expired] = [await newKey(owner, ["audit:read"]), await newKey(owner, ["audit:read"])];
    await send(keys.revokeServiceAccount, revokeServiceAccount, { id: revoked.serviceAccountId, as: owner.credential });
    await database()
      .update(apiKeys)
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .where(eq(apiKeys.serviceAccountId, expired.serviceAccountId));
    const { apiKey } = agent;
    const keyId = apiKey.split("_")[2]!;
    const other = newApiKey("sandbox").apiKey.split("_");
    const texts = [
      revoked.apiKey,
      expired.apiKey,
      newApiKey("sandbox").apiKey,
      newApiKey("production").apiKey,
      `csk_sandbox_${keyId}_${other[3]}`,
      `${apiKey.slice(0, -1)}${apiKey.endsWith("0") ? "1" : "0"}`,
      "nonsense",
    ];
    const bodies = new Set<string>();
    for (const text of texts) {
      const { status, problem, headers } = await askAudit({ authorization: `Bearer ${text}` });
      expect(status).toBe(401);
      expect(headers.get("www-authenticate")).toBe('Bearer realm="countersign"');
      bodies.add(JSON.stringify({ ...problem, requestId: "" }));
    }
    expect(bodies.size).toBe(1);
  });

  test("401 for the id of a live key with another secret", async () => {
    const stolen = newApiKey("sandbox");
    await database().update(apiKeys).set({ keyId: stolen.keyId }).where(eq(apiKeys.serviceAccountId, agent.serviceAccountId));
    expect(await refusalOf({ authorization: `Bearer ${stolen.apiKey}` })).toBe("api_key_invalid");
    const keyId = agent.apiKey.split("_")[2]!;
    await database().update(apiKeys).set({ keyId }).where(eq(apiKeys.serviceAccountId, agent.serviceAccountId));
    expect(await refusalOf(agent.credential)).toMatchObject({ kind: "key" });
  });

  test("401 takes as long for a revoked key as for an unknown one", async () => {
    const revoked = await newKey(owner, ["audit:read"]);
    await send(keys.revokeServiceAccount, revokeServiceAccount, { id: revoked.serviceAccountId, as: owner.credential });
    const times = new Map<string, number[]>([
      [newApiKey("sandbox").apiKey, []],
      [revoked.apiKey, []],
    ]);
    for (let turn = 0; turn < 300; turn += 1) {
      for (const [apiKey, taken] of times) {
        const before = performance.now();
        expect(await refusalOf({ authorization: `Bearer ${apiKey}` })).toBe("api_key_invalid");
        taken.push(performance.now() - before);
      }
    }
    const [unknown, known] = [...times.values()].map((taken) => taken.toSorted((a, b) => a - b)[taken.length >> 1]!);
    expect(Math.max(unknown!, known!) / Math.min(unknown!, known!)).toBeLessThan(1.5);
  });

  test("a revoked key is refused on the next request", async () => {
    const doomed = await newKey(owner, ["audit:read"]);
    expect((await askAudit(doomed.credential)).status).toBe(200);
    await send(keys.revokeServiceAccount, revokeServiceAccount, { id: doomed.serviceAccountId, as: owner.credential });
    expect((await askAudit(doomed.credential)).status).toBe(401);
  });

  test("400 for a key and a session on one request", async () => {
    const both = { ...agent.credential, ...owner.credential };
    expect(await refusalOf(both)).toBe("ambiguous_credentials");
    expect((await askAudit(both)).status).toBe(400);
  });

  test("403 for a key at operations that are for persons only", async () => {
    expect((await askSession(agent.credential)).status).toBe(403);
    const body = { name: "Another", organizationId: owner.organizationId };
    expect((await send(keys.createServiceAccount, createServiceAccount, { body, as: agent.credential })).status).toBe(403);
  });

  test("a request without credentials is anonymous", async () => {
    expect(await authenticate(request({}))).toBeNull();
    expect((await askAudit({})).problem.code).toBe("unauthenticated");
  });
});

describe("key look-ups", () => {
  const replaceListPool = async (by: (() => Pool) | null): Promise<void> => {
    await batchPool().end(1_000);
    forget("db/client batchPool");
    if (by) perProcess("db/client batchPool", by);
  };
  afterEach(() => replaceListPool(null));

  test("keys that wait for a look-up at the same time share one query, and each gets its own answer", async () => {
    const agents = await Promise.all(Array.from({ length: 5 }, () => newKey(owner, ["audit:read"])));
    let queries = 0;
    const { sql } = batchPool();
    const counting = (...query: Parameters<typeof sql>) => ((queries += 1), sql(...query));
    Object.assign(batchPool(), { sql: Object.assign(counting, sql) });
    const asked = Array.from({ length: 60 }, (_, at) => agents[at % 5]!);
    const callers = await Promise.all(asked.map(({ credential }) => authenticate(request(credential))));
    expect(callers.map((caller) => caller?.subjectId)).toEqual(asked.map(({ serviceAccountId }) => serviceAccountId));
    expect(queries).toBe(1);
  });

  test("if the database does not answer, only the requests of that query are refused", async () => {
    const options = {
      max: 1,
      waitMs: 1_000,
      waitersMax: 10,
      openMs: 1_000,
      silenceMs: 1_000,
      idleMs: 1_000,
      lifetimeMs: 1_000,
      settings: {},
    };
    await replaceListPool(() => new Pool({ ...options, url: "postgres://nobody@127.0.0.1:1/none" }));
    expect((await askAudit(agent.credential)).status).toBe(503);
    await replaceListPool(null);
    expect((await askAudit(agent.credential)).status).toBe(200);
  });
});

describe("authenticate with a session", () => {
  test("403 for a request from another origin that changes something; reading needs no origin", async () => {
    const { cookie } = owner.credential as { cookie: string };
    for (const origin of ["https://evil.example", "null", "http://localhost:3001", "http://localhost:3000.evil.example"]) {
      expect(await refusalOf({ cookie, origin }, "POST")).toBe("origin_not_allowed");
    }
    expect(await refusalOf({ cookie }, "POST")).toBe("origin_not_allowed");
    expect(await refusalOf({ cookie, origin: env().BASE_URL, "sec-fetch-site": "cross-site" }, "POST")).toBe(
      "origin_not_allowed",
    );
    expect(await refusalOf({ cookie, origin: "http://127.0.0.1:3000" }, "POST")).toMatchObject({ kind: "session" });
    expect(await refusalOf({ cookie }, "GET")).toMatchObject({ kind: "session" });
  });

  test("a cookie that this service did not sign is ignored", async () => {
    const { cookie } = owner.credential as { cookie: string };
    expect(await refusalOf({ cookie: `${cookie.slice(0, -6)}AAAA%3D` })).toBeNull();
    expect(await refusalOf({ cookie: "countersign.session_token=%E0%A4%A" })).toBeNull();
    expect(await refusalOf({ cookie: sessionCookieLine("never-issued").split(";")[0]! })).toBe("session_expired");
  });

  test("bans, role changes and removals take effect on the next request", async () => {
    const admin = await newMember(owner, "admin");
    expect((await askAudit(admin.credential)).status).toBe(200);
    await database().update(member).set({ role: "approver" }).where(eq(member.userId, admin.userId));
    expect((await askAudit(admin.credential)).problem.code).toBe("capability_required");
    await database().delete(member).where(eq(member.userId, admin.userId));
    expect(await refusalOf(admin.credential)).toMatchObject({ organizationId: null });
    expect((await askSession(admin.credential)).data.session).toMatchObject({ onboardingRequired: true, capabilities: [] });
    await database().update(user).set({ banned: true }).where(eq(user.id, admin.userId));
    expect((await askSession(admin.credential)).problem.code).toBe("banned");
    await database()
      .update(user)
      .set({ banExpires: new Date(Date.now() - 1000) })
      .where(eq(user.id, admin.userId));
    expect((await askSession(admin.credential)).status).toBe(200);
    await database().delete(session).where(eq(session.userId, admin.userId));
    expect((await askSession(admin.credential)).problem.code).toBe("session_expired");
  });

  test("a membership in another organization gives no right in the active one", async () => {
    const stranger = await newOrganization();
    await database()
      .update(session)
      .set({ activeOrganizationId: owner.organizationId })
      .where(eq(session.userId, stranger.userId));
    expect(await refusalOf(stranger.credential)).toMatchObject({ organizationId: null });
    expect((await askAudit(stranger.credential)).status).toBe(403);
  });

  test("a session lasts twelve hours and is renewed when it is used after its first hour", async () => {
    const person = await newPerson();
    const endOf = async () =>
      (
        await database().select({ at: session.expiresAt }).from(session).where(eq(session.userId, person.userId))
      )[0]!.at.getTime();
    const hours = async () => ((await endOf()) - Date.now()) / 3_600_000;
    expect(await hours()).toBeCloseTo(12, 1);
    expect((await askSession(person.credential)).headers.get("set-cookie")).toBeNull();
    await database()
      .update(session)
      .set({ expiresAt: new Date(Date.now() + 10.5 * 3_600_000) })
      .where(eq(session.userId, person.userId));
    expect((await askSession(person.credential)).headers.get("set-cookie")).toContain(`Max-Age=${12 * 3600}`);
    expect(await hours()).toBeCloseTo(12, 1);
    await database().update(session).set({ expiresAt: new Date() }).where(eq(session.userId, person.userId));
    expect((await askSession(person.credential)).problem.code).toBe("session_expired");
  });

  test("the first authenticated requests of a person write user.created once, in the platform's audit chain", async () => {
    const person = await newPerson();
    await Promise.all(Array.from({ length: 6 }, () => askSession(person.credential)));
    const events = await database().select().from(auditEvents).where(eq(auditEvents.entityId, person.userId));
    expect(events.map(({ type, chain }) => ({ type, chain }))).toEqual([{ type: "user.created", chain: "platform" }]);
  });

  test("the key of a deleted organization is refused", async () => {
    const gone = await newOrganization();
    const orphan = await newKey(gone, ["audit:read"]);
    await database().delete(organization).where(eq(organization.id, gone.organizationId));
    expect(await refusalOf(orphan.credential)).toBe("api_key_invalid");
  });
});
