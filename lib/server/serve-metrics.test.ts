import { afterEach, describe, expect, test } from "vitest";
import { noteAddress } from "#lib/http/address.ts";
import { observeRequest } from "#lib/telemetry/metrics.ts";
import { serveMetrics } from "#lib/server/serve-metrics.ts";
import { forget } from "#lib/process.ts";

const TOKEN = "a-token-that-a-scraper-has-of-32-characters";

const host = "localhost:3000";

function from(address: string | null, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const request = new Request("http://localhost/metrics", { headers: { host, ...headers } });
  if (address !== null) noteAddress(request, address);
  return serveMetrics(request);
}

function configure(name: string, value: string): void {
  process.env[name] = value;
  forget("env");
}

describe("serveMetrics", () => {
  afterEach(() => {
    delete process.env["METRICS_TOKEN"];
    delete process.env["TRUSTED_PROXY_HOPS"];
    forget("env");
  });

  test.each(["127.0.0.1", "::1", "::ffff:127.0.0.1"])(
    "a scraper on this machine (%s) reads durations by operation and status",
    async (address) => {
      observeRequest("getMandate", 200, 3);
      const response = await from(address);
      expect(response.headers.get("content-type")).toContain("text/plain");
      expect(await response.text()).toMatch(
        /countersign_request_duration_seconds_count\{operation="getMandate",status="200"\} \d/,
      );
    },
  );

  test.each([
    ["of another machine", "10.0.0.9", {}],
    ["of nobody knows where", null, {}],
    ["that only looks local", "128.0.0.1", {}],
    ["that a proxy on this machine passes on with Forwarded", "127.0.0.1", { forwarded: "for=10.0.0.9" }],
    ["that a proxy on this machine passes on with X-Forwarded-For", "127.0.0.1", { "x-forwarded-for": "10.0.0.9" }],
    ["that a proxy on this machine passes on with X-Forwarded-Host", "127.0.0.1", { "x-forwarded-host": "pay.example" }],
    ["that a proxy on this machine passes on with X-Real-IP", "127.0.0.1", { "x-real-ip": "10.0.0.9" }],
    ["that a proxy on this machine passes on with Via", "127.0.0.1", { via: "1.1 proxy" }],
    ["of a page of elsewhere whose name resolves here", "127.0.0.1", { host: "rebound.example:3000" }],
    ["to no host", "127.0.0.1", { host: "" }],
    ["with a wrong token", "10.0.0.9", { authorization: `Bearer ${TOKEN}x` }],
    ["with an empty token", "10.0.0.9", { authorization: "Bearer " }],
  ])("404 for a request %s", async (_what, address, headers) => {
    configure("METRICS_TOKEN", TOKEN);
    expect((await from(address, headers as Record<string, string>)).status).toBe(404);
  });

  test("behind a proxy no request is local, and the token is required", async () => {
    configure("METRICS_TOKEN", TOKEN);
    configure("TRUSTED_PROXY_HOPS", "1");
    expect((await from("127.0.0.1")).status).toBe(404);
    expect((await from("127.0.0.1", { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  });

  test("without a configured token every token is refused", async () => {
    expect((await from("10.0.0.9", { authorization: "Bearer undefined" })).status).toBe(404);
  });
});
