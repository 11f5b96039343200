import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { session } from "#lib/identity/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { useDatabase } from "#test/database.ts";
import { createBuyer, policy, type Buyer } from "#test/mandates.ts";
import { createAgent, type Credential } from "#test/tenant.ts";
import { waysIn, type WayIn } from "#test/ways-in.ts";

useDatabase();

describe.each(waysIn)("by %s", (_name, open) => {
  let way: WayIn;
  let buyer: Buyer;
  beforeAll(async () => {
    way = await open();
    buyer = await createBuyer();
  });
  afterAll(() => way.close());

  type Sent = { method?: string; headers?: Credential; as?: Credential; body?: unknown; text?: string };
  const ask = async (path: string, { method = "GET", headers = {}, as = {}, body, text }: Sent = {}) => {
    const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const request = new Request(env().BASE_URL + path, {
      method,
      headers: { ...(payload !== undefined && { "content-type": "application/json" }), ...as, ...headers },
      ...(payload !== undefined && { body: payload }),
    });
    const response = await way.send(request);
    const bytes = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      body: (bytes === "" ? null : JSON.parse(bytes)) as Record<string, unknown> | null,
    };
  };
  const draft = (headers: Credential = {}, name = "Test") =>
    ask("/api/v1/mandates", { method: "POST", as: buyer.person.credential, headers, body: { name, policy } });

  test.each([
    ["GET", "/api/v1/nothing", 404, "not_found"],
    ["POST", "/api/v1/nothing/at/all", 404, "not_found"],
    ["GET", "/api/v1/mandates/", 404, "not_found"],
    ["GET", "/api/v1/MANDATES", 404, "not_found"],
    ["DELETE", "/api/v1/mandates", 405, "method_not_allowed"],
    ["OPTIONS", "/api/v1/payments/authorize", 405, "method_not_allowed"],
    ["GET", "/api/v1/payments/authorize", 405, "method_not_allowed"],
    ["GET", "/api/v1/mandates", 401, "unauthenticated"],
  ])("%s %s is a %i problem", async (method, path, status, code) => {
    const reply = await ask(path, { method });
    expect([reply.status, reply.body?.["code"]]).toEqual([status, code]);
    expect(reply.headers.get("content-type")).toBe("application/problem+json");
    expect(reply.headers.get("request-id")).toBe(reply.body?.["requestId"]);
    expect(reply.headers.get("cache-control")).toBe("no-store");
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
    expect(reply.headers.get("allow") !== null).toBe(status === 405);
    expect(reply.headers.get("www-authenticate")).toBe(status === 401 ? 'Bearer realm="countersign"' : null);
  });

  test.each(["a%2Fb", "%00", "%ff", "%252e%252e", "a b", "mdt_\u00e9", "x".repeat(500)])("404 for the mandate %s", async (id) => {
    const reply = await ask(`/api/v1/mandates/${id}`, { as: buyer.person.credential });
    expect([reply.status, reply.body?.["code"]]).toEqual([404, "not_found"]);
  });

  test("HEAD answers like GET, but without a body", async () => {
    const [get, head] = [
      await ask("/api/v1/mandates", { as: buyer.person.credential }),
      await ask("/api/v1/mandates", { method: "HEAD", as: buyer.person.credential }),
    ];
    expect([head.status, head.bytes, head.headers.get("content-type")]).toEqual([get.status, "", "application/json"]);
    const missing = await ask("/api/v1/nothing", { method: "HEAD" });
    expect([missing.status, missing.bytes]).toEqual([404, ""]);
  });

  test("replies to authenticated requests contain the rate limit, others do not", async () => {
    const mine = await ask("/api/v1/mandates", { as: buyer.agent.credential });
    expect(mine.headers.get("ratelimit-policy")).toBe(`"credential";q=${env().RATE_LIMIT_PER_KEY};w=1`);
    expect(mine.headers.get("ratelimit")).toMatch(/^"credential";r=\d+;t=1$/);
    expect((await ask("/api/v1/mandates")).headers.get("ratelimit")).toBeNull();
  });

  test("413 for a body over 64 KiB, with and without a length", async () => {
    const text = JSON.stringify({ name: "x".repeat(66_000) });
    const declared = await ask("/api/v1/mandates", {
      method: "POST",
      as: buyer.person.credential,
      text,
      headers: { "content-length": String(text.length) },
    });
    const streamed = await ask("/api/v1/mandates", { method: "POST", as: buyer.person.credential, text });
    expect([declared.body?.["code"], streamed.body?.["code"]]).toEqual(["body_too_large", "body_too_large"]);
  });

  test("415 for a form, which a page of another site can send, and 406 for HTML", async () => {
    const form = await ask("/api/v1/mandates", {
      method: "POST",
      as: buyer.person.credential,
      text: "name=x",
      headers: { "content-type": "text/plain" },
    });
    const html = await ask("/api/v1/mandates", { as: buyer.person.credential, headers: { accept: "text/html" } });
    expect([form.status, html.status]).toEqual([415, 406]);
  });

  test.each([
    ["mistyped", "Bearer csk_sandbox_0123456789abcdef_x"],
    ["of another scheme", "Basic dXNlcjpwYXNz"],
    ["empty", "Bearer"],
    ["not ours", "Bearer eyJhbGciOiJub25lIn0.e30."],
  ])("401 for a key that is %s", async (_what, authorization) => {
    const reply = await ask("/api/v1/mandates", { as: { authorization } });
    expect([reply.status, reply.body?.["code"], reply.headers.get("www-authenticate")]).toEqual([
      401,
      "api_key_invalid",
      'Bearer realm="countersign"',
    ]);
  });

  test("400 for a key and a session at once", async () => {
    const reply = await ask("/api/v1/mandates", { as: { ...buyer.agent.credential, ...buyer.person.credential } });
    expect([reply.status, reply.body?.["code"]]).toEqual([400, "ambiguous_credentials"]);
  });

  test.each([["https://evil.example"], ["null"], ["http://localhost:3001"], [""]])(
    "403 for a session's change from the origin %j",
    async (origin) => {
      const reply = await draft({ origin });
      expect([reply.status, reply.body?.["code"]]).toEqual([403, "origin_not_allowed"]);
    },
  );

  test("a session that has ended is refused at once", async () => {
    const other = await createBuyer();
    const list = () => ask("/api/v1/mandates", { as: other.person.credential });
    expect((await list()).status).toBe(200);
    await database().delete(session).where(eq(session.userId, other.person.userId));
    expect((await list()).body?.["code"]).toBe("session_expired");
  });

  test("a repeat with the same key gets the same bytes and has no effect", async () => {
    const key = `repeat-${crypto.randomUUID()}`;
    const first = await draft({ "idempotency-key": key });
    const second = await draft({ "idempotency-key": key });
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([201, null]);
    expect([second.status, second.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(second.bytes).toBe(first.bytes);
    expect(second.headers.get("request-id")).not.toBe(first.headers.get("request-id"));
  });

  test("422 for a key that was used for another body, with any order of its fields", async () => {
    const key = `reused-${crypto.randomUUID()}`;
    const first = await draft({ "idempotency-key": key });
    const reordered = await ask("/api/v1/mandates", {
      method: "POST",
      as: buyer.person.credential,
      headers: { "idempotency-key": key },
      body: { policy, name: "Test" },
    });
    const other = await draft({ "idempotency-key": key }, "Other");
    expect([first.status, reordered.bytes === first.bytes, other.status, other.body?.["code"]]).toEqual([
      201,
      true,
      422,
      "idempotency_key_reused",
    ]);
  });

  test("twenty equal requests at the same time have one effect and one reply", async () => {
    const own = await createBuyer();
    const key = `twins-${crypto.randomUUID()}`;
    const send = () =>
      ask("/api/v1/mandates", {
        method: "POST",
        as: own.person.credential,
        headers: { "idempotency-key": key },
        body: { name: "Twin", policy },
      });
    const replies = await Promise.all(Array.from({ length: 20 }, send));
    const settled = replies.filter(({ status }) => status === 201);
    expect(settled.length).toBeGreaterThan(0);
    expect(new Set(settled.map(({ bytes }) => bytes)).size).toBe(1);
    for (const { status, body } of replies) if (status !== 201) expect(body?.["code"]).toBe("idempotency_in_flight");
    expect(await database().$count(mandates, eq(mandates.organizationId, own.organizationId))).toBe(1);
  });

  test.each([["spaces in it"], ["x".repeat(256)], ["caf\u00e9"]])("400 for the key %.20s", async (key) => {
    const reply = await draft({ "idempotency-key": key });
    expect(reply.body).toMatchObject({ code: "invalid_request", errors: [{ pointer: "/headers/Idempotency-Key" }] });
  });

  test("400 if body and header have different keys, and without a key if one is required", async () => {
    const agent = await createAgent(buyer.organizationId, ["payments:authorize"]);
    const intent = {
      intentId: "i",
      seller: {},
      amount: "1",
      asset: "USDC",
      nonce: "n",
      expiresAt: new Date(Date.now() + 60_000).toISOString(),
    };
    const authorize = (key: string | null, headers: Credential) =>
      ask("/api/v1/payments/authorize", {
        method: "POST",
        as: agent.credential,
        headers,
        body: { mandateId: "mdt_x", intent: { ...intent, ...(key !== null && { idempotencyKey: key }) } },
      });
    expect((await authorize("a", { "idempotency-key": "b" })).body).toMatchObject({
      code: "invalid_request",
      errors: [{ pointer: "/headers/Idempotency-Key" }],
    });
    expect((await authorize(null, {})).body).toMatchObject({ status: 400, code: "idempotency_key_required" });
    expect((await authorize("a", { "idempotency-key": "a" })).status).toBe(404);
    expect((await authorize("a", { "idempotency-key": '"a"' })).status).toBe(404);
  });

  test("a key in quotes, as the IETF's draft writes it, is the same key without them", async () => {
    const own = await createBuyer();
    const replies = [];
    for (const key of ["k-quoted", '"k-quoted"'])
      replies.push(
        await ask("/api/v1/mandates", {
          method: "POST",
          as: own.person.credential,
          headers: { "idempotency-key": key },
          body: { name: "Once", policy },
        }),
      );
    expect(replies.map(({ status }) => status)).toEqual([201, 201]);
    expect(replies[1]?.bytes).toBe(replies[0]?.bytes);
    const reply = await draft({ "idempotency-key": '""' });
    expect(reply.body).toMatchObject({ code: "invalid_request", errors: [{ pointer: "/headers/Idempotency-Key" }] });
  });

  test("only the API document and the liveness check are open to anyone", async () => {
    const document = await ask("/api/v1/openapi.json");
    expect([document.status, document.body?.["openapi"]]).toEqual([200, "3.1.1"]);
    const live = await ask("/api/v1/health/live");
    expect(live.body).toEqual({ status: "alive", timestamp: expect.any(String), uptimeMs: expect.any(Number) });
  });
});
