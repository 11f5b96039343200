import { glob } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { operations } from "#lib/operations/operations.ts";
import { dispatch, routes } from "#lib/server/routes.ts";

const root = join(import.meta.dirname, "..");
const api = join(root, "app/api/v1");

const files = await Array.fromAsync(glob("**/route.ts", { cwd: api }));
const pathOf = (file: string): string => `/api/v1/${dirname(file)}`.replaceAll(/\[(\w+)\]/g, "{$1}");
/** Paths that are served but are not operations. */
const others = ["/api/v1/openapi.json"];

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
type Module = Record<(typeof METHODS)[number], (request: Request) => Promise<Response>>;

const concrete = (path: string): string => path.replaceAll(/\{\w+\}/g, "a");
const allowOf = async (path: string) => {
  const response = await dispatch(new Request(`http://localhost${concrete(path)}`, { method: "DELETE" }));
  return { status: response.status, allow: response.headers.get("allow") };
};

describe("mount", () => {
  test("exactly the operations are served", () => {
    expect(routes.map((one) => one.operation.id).toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
  });

  test("every path of an operation has a route file, and every route file an operation", () => {
    const expected = [...new Set(operations.map(({ path }) => path)), ...others].toSorted();
    expect(files.map((file) => pathOf(file)).toSorted()).toEqual(expected);
  });

  test("the facilitator's paths are mounted in both ways too", async () => {
    const paths = (await Array.fromAsync(glob("**/route.ts", { cwd: join(root, "app/api/x402") }))).map(
      (file) => `/api/x402/${dirname(file)}`,
    );
    expect(paths.toSorted()).toEqual(["/api/x402/settle", "/api/x402/supported", "/api/x402/verify"]);
    for (const path of paths) expect((await allowOf(path)).status).toBe(405);
  });

  test.each(files.map((file) => [relative(root, join(api, file)), pathOf(file)]))(
    "%s answers the same methods as the dispatch",
    async (file, path) => {
      const exported = (await import(join(root, file))) as Module;
      expect(Object.keys(exported).toSorted()).toEqual([...METHODS].toSorted());
      const response = await exported.DELETE(new Request(`http://localhost${concrete(path)}`, { method: "DELETE" }));
      expect({ status: response.status, allow: response.headers.get("allow") }).toEqual(await allowOf(path));
      const served = operations.filter((one) => one.path === path).map(({ method }) => method as string);
      if (served.length > 0) {
        if (served.includes("GET")) served.push("HEAD");
        expect(response.headers.get("allow")).toBe(served.toSorted().join(", "));
      }
    },
  );
});
