import { describe, expect, test } from "vitest";
import { z } from "zod";
import { listedReply, operation, storedReply, type Handler, type Operation } from "#lib/http/operation.ts";
import { methods, route } from "#lib/api/route.ts";
import { ConnectionLost, OutcomeUnknown, PoolBusy } from "#lib/db/failure.ts";
import { ClientId } from "#lib/ids.ts";
import { Problem } from "#lib/problem.ts";
import { useDatabase } from "#test/database.ts";
import { captureLog } from "#test/logged.ts";

useDatabase();
const logged = captureLog();

const base = {
  tag: "Health",
  summary: "For these tests",
  access: "anyone",
  problems: [],
  example: { response: {} },
} as const;

const Line = z.strictObject({ name: z.string().max(8), quantity: z.int().min(1) });
const write = operation({
  ...base,
  id: "write",
  method: "POST",
  path: "/api/v1/things/{id}/lines/{lineId}",
  query: z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(20) }),
  body: z.strictObject({ name: z.string(), lines: z.array(Line).optional(), choice: z.union([z.string(), Line]).optional() }),
  response: z.object({ seen: z.unknown() }),
});
const echo: Handler<typeof write> = (input) => Promise.resolve({ seen: input, secret: "not in the contract" });

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  new Request(`http://localhost${path}`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });
const at = "/api/v1/things/a/lines/b";

async function ask(request: Request, handler: Handler<typeof write> = echo) {
  const response = await route(write, handler)(request);
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

describe("route: input", () => {
  test("a handler gets path parameters decoded once, the parsed query and the parsed body", async () => {
    const { status, body } = await ask(post("/api/v1/things/a%3Ab/lines/b?limit=7", { name: "x" }));
    expect(status).toBe(200);
    expect(body).toEqual({ seen: { id: "a:b", lineId: "b", query: { limit: 7 }, body: { name: "x" } } });
  });

  test.each([
    ["a missing field", {}, "/name"],
    ["a wrong type", { name: 7 }, "/name"],
    ["an unknown field", { name: "x", amount: "1" }, "/amount"],
    ["an unknown field deep inside", { name: "x", lines: [{ name: "a", quantity: 1, "a/b~c": 1 }] }, "/lines/0/a~1b~0c"],
    [
      "an element",
      {
        name: "x",
        lines: [
          { name: "a", quantity: 1 },
          { name: "a", quantity: 0 },
        ],
      },
      "/lines/1/quantity",
    ],
    ["a union's closest branch", { name: "x", choice: { name: "a", quantity: 0 } }, "/choice/quantity"],
    ["null for an object", "null", ""],
    ["a list for an object", "[]", ""],
    ["a duplicate", '{"name":"a","name":"b"}', "/name"],
    ["no JSON", "{", ""],
    ["no body", "", "/name"],
  ])("400 points at %s", async (_name, body, pointer) => {
    const reply = await ask(post(at, body));
    expect(reply.status).toBe(400);
    expect(reply.headers.get("content-type")).toBe("application/problem+json");
    expect(reply.body).toMatchObject({
      code: "invalid_request",
      category: "validation_error",
      errors: [{ pointer, detail: expect.any(String) }],
    });
  });

  test.each([
    ["?limit=0", "/query/limit"],
    ["?limit=x", "/query/limit"],
    ["?limit=1&limit=2", "/query/limit"],
    ["?page=1", "/query/page"],
    ["?limit=%00", "/query/limit"],
    ["?limit=%ff", "/query/limit"],
    ["?__proto__=1", "/query/__proto__"],
  ])("400 points at the parameter of %s", async (query, pointer) => {
    const reply = await ask(post(at + query, { name: "x" }));
    expect(reply).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });

  test("a reply lists at most 32 field errors", async () => {
    const body = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, 1]));
    expect((await ask(post(at, body))).body.errors).toHaveLength(32);
  });

  test.each([
    "/api/v1/things/a%2Fb/lines/c",
    "/api/v1/things/%00/lines/c",
    "/api/v1/things/%ff/lines/c",
    "/api/v1/things/a/lines/b/",
    "/api/v1/things//lines/c",
    `/api/v1/things/${"a".repeat(129)}/lines/c`,
    "/api/v1/things/%252e/lines/c",
    "/api/v1/things/%F0%9F%92%A9/lines/c",
  ])("404 for an impossible id: %.60s", async (path) => {
    expect((await ask(post(path, { name: "x" }))).body.code).toBe("not_found");
  });

  test("400 points at the id of a PUT, because the client chose it", async () => {
    const put = operation({ ...base, id: "put", method: "PUT", path: "/api/v1/things/{id}", response: z.object({}) });
    const response = await route(put, () => Promise.resolve({}))(
      new Request("http://localhost/api/v1/things/a%20b", { method: "PUT" }),
    );
    expect(await response.json()).toMatchObject({ code: "invalid_request", errors: [{ pointer: "/path/id" }] });
  });

  test("an operation without a body takes none or an empty object", async () => {
    const bare = operation({ ...base, id: "bare", method: "POST", path: "/api/v1/bare", response: z.object({}) });
    const serve = route(bare, () => Promise.resolve({}));
    const statuses = await Promise.all(
      [
        new Request("http://localhost/api/v1/bare", { method: "POST" }),
        post("/api/v1/bare", {}),
        post("/api/v1/bare", { a: 1 }),
      ].map(async (request) => (await serve(request)).status),
    );
    expect(statuses).toEqual([200, 200, 400]);
  });

  test("413, 415 and 406 have problem bodies too", async () => {
    const replies = await Promise.all([
      ask(post(at, { name: "x".repeat(70_000) })),
      ask(post(at, { name: "x" }, { "content-type": "text/plain" })),
      ask(post(at, { name: "x" }, { accept: "text/html" })),
    ]);
    expect(replies.map(({ status, body }) => [status, body.code])).toEqual([
      [413, "body_too_large"],
      [415, "content_type_unsupported"],
      [406, "not_acceptable"],
    ]);
  });
});

const refusing = (error: unknown) => ask(post(at, { name: "x" }), () => Promise.reject(error));

describe("route: replies", () => {
  test("fields outside the contract are never sent", async () => {
    expect(JSON.stringify((await ask(post(at, { name: "x" }))).body)).not.toContain("not in the contract");
  });

  test("every reply has a request id and forbids caching and MIME sniffing", async () => {
    for (const body of [{ name: "x" }, {}]) {
      const { headers } = await ask(post(at, body));
      expect(headers.get("request-id")).toMatch(/^req_[0-9a-z]{26}$/);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  test("a problem contains the request id of its reply, its headers and the time to retry", async () => {
    const { status, headers, body } = await refusing(
      new Problem("idempotency_in_flight", {
        detail: "Still running.",
        retryAfterSeconds: 1,
        headers: { "X-Test": "1" },
        instance: "/api/v1/x",
      }),
    );
    expect([status, headers.get("retry-after"), headers.get("x-test")]).toEqual([409, "1", "1"]);
    expect(body).toMatchObject({ requestId: headers.get("request-id"), retryable: true, instance: "/api/v1/x" });
    expect(body.nextActions).toMatchObject([{ type: "retry_later" }]);
  });

  test.each([
    [{ code: "ECONNREFUSED" }, 503, "service_unavailable"],
    [{ code: "CONNECTION_LOST" }, 503, "service_unavailable"],
    [{ code: "57P01" }, 503, "service_unavailable"],
    [{ code: "53300" }, 503, "service_unavailable"],
    [{ code: "55P03" }, 503, "overloaded"],
    [{ code: "23505" }, 500, "internal_error"],
    [{}, 500, "internal_error"],
  ])("an error %j is %i %s and shows no detail", async (fields, status, code) => {
    const cause = Object.assign(new Error("canary: SELECT secret FROM db.internal"), fields);
    for (const error of [cause, new Error("Failed query: canary", { cause })]) {
      const reply = await refusing(error);
      expect(reply).toMatchObject({ status, body: { code } });
      expect(JSON.stringify(reply.body)).not.toMatch(/canary|SELECT|internal\b(?!_error)/);
      if (status === 503) expect(reply.headers.get("retry-after")).toBe("1");
    }
  });

  test("the log line of each 5xx has the problem or SQLSTATE, the limit that was hit, and the cause", async () => {
    logged.length = 0;
    const lost = new ConnectionLost(
      "The connection could not be opened.",
      Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
    );
    await refusing(new OutcomeUnknown("COMMIT was sent and not answered.", { cause: lost }));
    await refusing(new PoolBusy("No connection was free in time.", "pool.waitMs"));
    await refusing(new Error("Failed query", { cause: Object.assign(new Error("canceling statement"), { code: "57014" }) }));
    await refusing(new Problem("overloaded", { detail: "Too many requests wait.", limit: "checkoutWaits.person" }));
    expect(logged.filter(({ message }) => message === "Request failed")).toMatchObject([
      { status: 503, sqlState: "ECONNREFUSED", error: { cause: { cause: { message: "refused" } } } },
      { status: 503, sqlState: "POOL_BUSY", limit: "pool.waitMs" },
      { status: 503, sqlState: "57014", limit: "statement_timeout", error: { cause: { message: "canceling statement" } } },
      { status: 503, problem: "overloaded", limit: "checkoutWaits.person" },
    ]);
  });

  test("a reply that breaks its own contract is a 500, not a leak", async () => {
    const strict = operation({
      ...base,
      id: "strict",
      method: "GET",
      path: "/api/v1/strict",
      response: z.object({ name: z.string() }),
    });
    const handler = (() => Promise.resolve({ name: 7 })) as unknown as Handler<typeof strict>;
    expect((await route(strict, handler)(new Request("http://localhost/api/v1/strict"))).status).toBe(500);
  });

  test("stored bytes are sent unchanged, and a replay is marked", async () => {
    const bytes = '{"seen":  "spaces kept"}';
    for (const replayed of [false, true]) {
      const response = await route(write, () => Promise.resolve(storedReply(200, bytes, replayed)))(post(at, { name: "x" }));
      expect(await response.text()).toBe(bytes);
      expect(response.headers.get("idempotent-replayed")).toBe(replayed ? "true" : null);
    }
    const failed = await route(write, () => Promise.resolve(storedReply(402, "{}", true)))(post(at, { name: "x" }));
    expect([failed.status, failed.headers.get("content-type")]).toEqual([402, "application/problem+json"]);
  });

  test("a list without a page object names its next page in the Link header, with its filters", async () => {
    const list = operation({
      ...base,
      id: "list",
      method: "GET",
      path: "/api/v1/list",
      query: z.strictObject({ limit: z.coerce.number().default(1), cursor: z.string().optional(), kind: ClientId.optional() }),
      response: z.object({ items: z.array(z.string()) }),
    });
    const serve = route(list, () => Promise.resolve(listedReply({ items: ["a"] }, "c1")));
    const response = await serve(new Request("http://localhost/api/v1/list?kind=x&cursor=c0"));
    expect(response.headers.get("link")).toBe('</api/v1/list?kind=x&cursor=c1>; rel="next"');
    expect(await response.json()).toEqual({ items: ["a"] });
    const last = route(list, () => Promise.resolve(listedReply({ items: [] }, null)));
    expect((await last(new Request("http://localhost/api/v1/list"))).headers.get("link")).toBeNull();
  });
});

describe("methods", () => {
  const read = operation({
    ...base,
    id: "read",
    method: "GET",
    path: "/api/v1/things",
    response: z.object({}),
  }) satisfies Operation;
  const create = operation({
    ...base,
    id: "create",
    method: "POST",
    path: "/api/v1/things",
    status: 201,
    response: z.object({}),
  });
  const served = methods(
    route(read, () => Promise.resolve({})),
    route(create, () => Promise.resolve({})),
  );
  const send = (method: keyof typeof served) => served[method](new Request("http://localhost/api/v1/things", { method }));

  test("a successful creation has status 201", async () => {
    expect((await send("POST")).status).toBe(201);
  });

  test("HEAD gets the reply of GET without its body", async () => {
    const response = await send("HEAD");
    expect([response.status, await response.text(), response.headers.get("content-type")]).toEqual([200, "", "application/json"]);
  });

  test.each(["PUT", "PATCH", "DELETE", "OPTIONS"] as const)("405 with Allow for %s", async (method) => {
    const response = await send(method);
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
    expect(await response.json()).toMatchObject({ code: "method_not_allowed", requestId: response.headers.get("request-id") });
  });
});
