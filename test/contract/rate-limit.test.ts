import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import { dispatch } from "#lib/server/entry.ts";
import { newApiKey } from "#lib/identity/keys/api-key.ts";
import { useDatabase } from "#test/database.ts";
import { createAgent, createOrganization, type Credential } from "#test/tenant.ts";

useDatabase();

describe("rate limits", () => {
  const usual = process.env["RATE_LIMIT_PER_ADDRESS"] ?? "";
  beforeEach(() => {
    process.env["RATE_LIMIT_PER_KEY"] = "3";
    process.env["RATE_LIMIT_PER_ADDRESS"] = "3";
    forget("env", "http/rate-limit");
  });
  afterEach(() => {
    delete process.env["RATE_LIMIT_PER_KEY"];
    process.env["RATE_LIMIT_PER_ADDRESS"] = usual;
    forget("env", "http/rate-limit");
  });

  const ask = (as: Credential, address = "10.0.0.1", path = "/api/v1/mandates", headers: Credential = {}) =>
    dispatch(new Request(env().BASE_URL + path, { headers: { ...as, ...headers } }), address);
  const statuses = async (replies: readonly Promise<Response>[]) => (await Promise.all(replies)).map(({ status }) => status);

  test("a key has its own limit for all addresses, and every reply says how much is left", async () => {
    const organizationId = await createOrganization();
    const [one, other] = [
      await createAgent(organizationId, ["mandates:read"]),
      await createAgent(organizationId, ["mandates:read"]),
    ];
    const replies: Response[] = [];
    for (let index = 0; index < 4; index++) replies.push(await ask(one.credential, `10.0.0.${index}`));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(replies.map(({ headers }) => headers.get("ratelimit"))).toEqual(
      [2, 1, 0, 0].map((left) => `"credential";r=${left};t=1`),
    );
    const refused = replies[3];
    expect([refused?.headers.get("retry-after"), refused?.headers.get("ratelimit-policy")]).toEqual([
      "1",
      '"credential";q=3;w=1',
    ]);
    expect(await refused?.json()).toMatchObject({
      code: "rate_limited",
      retryable: true,
      requestId: refused?.headers.get("request-id"),
    });
    expect((await ask(other.credential)).status).toBe(200);
  });

  test("wrong keys count for the address, and sending X-Forwarded-For does not change that", async () => {
    const guess = (index: number) =>
      ask({ authorization: `Bearer ${newApiKey("sandbox").apiKey}` }, "10.0.0.1", "/api/v1/mandates", {
        "x-forwarded-for": `10.9.9.${index}`,
      });
    expect(await statuses([0, 1, 2, 3, 4].map(guess))).toEqual([401, 401, 401, 429, 429]);
    expect((await ask({}, "10.0.0.2")).status).toBe(401);
  });

  test("a refused capability counts for the key too", async () => {
    const { credential } = await createAgent(await createOrganization(), []);
    expect(await statuses(Array.from({ length: 5 }, () => ask(credential)))).toEqual([403, 403, 403, 429, 429]);
  });

  test("public operations are limited by address", async () => {
    expect(await statuses(Array.from({ length: 5 }, () => ask({}, "2001:db8::1", "/api/v1/health/live")))).toEqual([
      200, 200, 200, 429, 429,
    ]);
    expect((await ask({}, "2001:db8::2", "/api/v1/health/live")).status).toBe(429);
    expect((await ask({}, "2001:db8:0:1::1", "/api/v1/health/live")).status).toBe(200);
  });
});
