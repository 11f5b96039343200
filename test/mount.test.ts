import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { operations } from "#lib/operations/operations.ts";
import type { Methods } from "#lib/api/route.ts";
import { dispatch } from "#lib/server/routes.ts";

const paths = [...new Set(operations.map(({ path }) => path))];
const requestTo = (path: string, method: string) =>
  new Request(`http://localhost${path.replaceAll(/\{\w+\}/g, "a")}`, { method });

describe("mount", () => {
  test("each operation has its own id, method and path", () => {
    expect(operations.length).toBeGreaterThan(70);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length);
  });

  test.each([...paths, "/api/v1/openapi.json"])("%s answers exactly the methods of its operations", async (path) => {
    const served = operations.filter((one) => one.path === path).map(({ method }) => method as string);
    if (path.endsWith("/openapi.json")) served.push("GET");
    if (served.includes("GET")) served.push("HEAD");
    const { status, headers } = await dispatch(requestTo(path, "DELETE"));
    expect({ status, allow: headers.get("allow") }).toEqual({ status: 405, allow: served.toSorted().join(", ") });
  });

  test.each(["/api/x402/settle", "/api/x402/supported", "/api/x402/verify"])(
    "%s of this service's facilitator is served",
    async (path) => {
      expect((await dispatch(requestTo(path, "DELETE"))).status).toBe(405);
    },
  );

  test.each(["/metrics", "/.well-known/jwks.json"])("%s is served by the process of the API", async (path) => {
    expect((await dispatch(requestTo(path, "DELETE"))).headers.get("allow")).toBe("GET, HEAD");
  });

  test("Next.js passes every method of every path below /api to the same dispatch", async () => {
    const nextRoute = (await import(join(import.meta.dirname, "../app/api/[[...path]]/route.ts"))) as Methods;
    expect(Object.keys(nextRoute).toSorted()).toEqual(["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]);
    for (const path of [...paths, "/api/x402/verify", "/api/auth/sign-out", "/api/v1/none", "/api"]) {
      const [ours, its] = await Promise.all([dispatch(requestTo(path, "DELETE")), nextRoute.DELETE(requestTo(path, "DELETE"))]);
      expect([its.status, its.headers.get("allow")]).toEqual([ours.status, ours.headers.get("allow")]);
    }
    expect((await nextRoute.GET(requestTo("/api/v1/health/live", "GET"))).status).toBe(200);
  });
});
