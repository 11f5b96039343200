import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { operations } from "#lib/operations/operations.ts";
import { otherRoutes, routes } from "#app/routes.ts";
import type { Methods, Route } from "#lib/api/route.ts";
import { dispatch } from "#lib/server/entry.ts";
import { config } from "../../proxy.tsx";
import { ROUTES_FILE, routesText } from "../../scripts/routes.ts";

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

  test("each operation is served by the route file at its path, and the list of these files is current", async () => {
    for (const { id, method, path } of operations)
      expect((routes[id as keyof typeof routes][method] as Route).operation, `${method} ${path}`).toMatchObject({
        id,
        method,
        path,
      });
    const isCurrent = (await readFile(ROUTES_FILE, "utf8")) === (await routesText());
    expect(isCurrent, "A route file was added or moved. Run node scripts/routes.ts.").toBe(true);
  });

  test("every route file answers every method, so that Next.js answers none itself, and other paths of /api are not found", async () => {
    for (const methods of [...Object.values(routes), ...Object.values(otherRoutes)])
      expect(Object.keys(methods).toSorted()).toEqual(["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]);
    const rest = (await import(join(import.meta.dirname, "../../app/api/[[...path]]/route.ts"))) as Methods;
    const served = operations.map(({ id, path }) => [path, routes[id as keyof typeof routes]] as const);
    const others = Object.entries(otherRoutes).filter(([path]) => path.startsWith("/api/"));
    const none = ["/api/v1/none", "/api"].map((path) => [path, rest] as const);
    for (const [path, methods] of [...served, ...others, ...none]) {
      const [ours, its] = await Promise.all([dispatch(requestTo(path, "DELETE")), methods.DELETE(requestTo(path, "DELETE"))]);
      expect([path, its.status, its.headers.get("allow")]).toEqual([path, ours.status, ours.headers.get("allow")]);
    }
    expect((await routes.checkLiveness.GET(requestTo("/api/v1/health/live", "GET"))).status).toBe(200);
  });

  test("the proxy leaves out every path that this service serves beside its pages", () => {
    const [matcher = ""] = config.matcher;
    const paths = [...operations.map(({ path }) => path), ...Object.keys(otherRoutes)];
    for (const path of paths) expect(new RegExp(`^${matcher}$`).test(path), path).toBe(false);
    expect(new RegExp(`^${matcher}$`).test("/home")).toBe(true);
  });
});
