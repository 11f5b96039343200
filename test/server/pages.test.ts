import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { newId } from "#lib/ids.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { Link } from "#test/link.ts";
import { RUN_MS } from "#test/run-time.ts";
import { pageOf, runServer, sharedServer } from "#test/running-server.ts";

const database = useDatabase();

describe("one server", () => {
  const shared = sharedServer(() => ({ DATABASE_URL: database().url }));

  test("every page has its own nonce, and every script has it", async () => {
    const { url } = shared();
    const nonces = new Set<string>();
    for (const [path, status] of [
      ["/", 200],
      ["/", 200],
      ["/nowhere", 404],
    ] as const) {
      const reply = await pageOf(url + path);
      expect(reply.status).toBe(status);
      const policy = reply.headers.get("content-security-policy") ?? "";
      const nonce = /script-src 'self' 'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
      expect(nonce).not.toBe("");
      nonces.add(nonce);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe-eval");
      const scripts = (await reply.text()).match(/<script[^>]*>/g) ?? [];
      expect(scripts.length).toBeGreaterThan(0);
      for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
      expect(reply.headers.get("x-powered-by")).toBeNull();
      expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
      expect(reply.headers.get("referrer-policy")).toBe("no-referrer");
    }
    expect(nonces.size).toBe(3);
    expect((await fetch(`${url}/api/v1/nowhere`)).headers.get("content-type")).toContain("application/problem+json");
  });

  test.each([true, false])(
    "every origin may read and every cache may store the public keys of receipts, and nothing else is published (pages: %s)",
    async (pages) => {
      const { url } = pages ? shared() : await runServer({ DATABASE_URL: database().url });
      const reply = await fetch(`${url}/.well-known/jwks.json`);
      expect(reply.status).toBe(200);
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        "content-type": "application/json",
        "cache-control": "public, max-age=300",
        "access-control-allow-origin": "*",
        "x-content-type-options": "nosniff",
      });
      expect(reply.headers.has("set-cookie")).toBe(false);
      const { keys, ...rest } = (await reply.json()) as { readonly keys: readonly Record<string, unknown>[] };
      expect(rest).toEqual({});
      expect(keys).toHaveLength(1);
      expect(Object.keys(keys[0]!).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
      expect((await pageOf(`${url}/.well-known/countersign-audit-key`)).status).toBe(404);
    },
  );

  test("other files, found or not, have a policy without scripts and frames", async () => {
    const { url } = shared();
    const font = (await readdir("public/fonts")).find((file) => file.endsWith(".woff2")) ?? "";
    expect((await pageOf(`${url}/fonts/${font}`)).headers.get("cache-control")).toBe("public, max-age=604800");
    for (const [path, status] of [
      [`/fonts/${font}`, 200],
      ["/icon.svg", 200],
      ["/icons/192.png", 200],
      ["/sw.js", 200],
      ["/offline.html", 200],
      ["/manifest.webmanifest", 200],
      ["/fonts/nothing", 404],
      ["/fonts/", 404],
      ["/fonts", 404],
      ["/fontsfoo", 404],
      ["/icon.svgx", 404],
      ["/fonts/a/nothing.woff2", 404],
      ["/_next/static/nothing.js", 404],
      ["/_next/static/", 404],
      ["/_next/image", 404],
      ["/_next/image?url=%2Ficon.svg&w=64&q=75", 404],
      ["/_next/nothing", 404],
      ["/favicon.ico", 404],
    ] as const) {
      const reply = await pageOf(url + path);
      expect(reply.status, path).toBe(status);
      const policy = reply.headers.get("content-security-policy") ?? "";
      expect(policy, path).toContain("frame-ancestors 'none'");
      // There must be exactly one policy; a comma would begin a second one.
      expect(policy, path).toMatch(/^[^,]+$/);
      const scripts = (await reply.text()).match(/<script[^>]*>/g) ?? [];
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
      if (nonce === undefined) expect(policy, path).toMatch(/^default-src 'none'; (?!.*script-src)/);
      else for (const script of scripts) expect(script, path).toContain(`nonce="${nonce}"`);
    }
  });
});

describe("the pages", () => {
  test("parallel requests to a server that has just started are all served", async () => {
    const { credential } = await newOrganization({ productRoles: ["buyer", "seller"] });
    const { url } = await runServer({ DATABASE_URL: database().url }, { pages: true });
    const asked = { headers: credential, redirect: "manual" } as const;
    // The two pages share modules, and these are the first requests to the server.
    const [missing, home] = await Promise.all([
      pageOf(`${url}/checkout/${newId("checkoutIntent")}`, asked),
      pageOf(`${url}/home`, asked),
    ]);
    expect([missing.status, home.status]).toEqual([404, 200]);
    expect((await pageOf(`${url}/payments`, asked)).status).toBe(200);
  });

  test(
    "503 with a page of the service if the database is lost at any byte, and 200 when it is back",
    { timeout: RUN_MS },
    async () => {
      const { credential } = await newOrganization({ productRoles: ["buyer"] });
      const link = await Link.to(database().url);
      onTestFinished(() => link.close());
      const { url } = await runServer({ DATABASE_URL: link.through(database().url) }, { pages: true });
      const home = () => fetch(`${url}/home`, { headers: credential, redirect: "manual" });
      await expect.poll(async () => (await home()).status, { timeout: RUN_MS }).toBe(200);
      const seen = new Set<number>();
      for (const bytes of [0, 100, 400, 600, 1_000, 2_000, 4_000, 8_000]) {
        link.cutAfter(bytes);
        const reply = await home();
        seen.add(reply.status);
        if (reply.status === 200) continue;
        expect([reply.status, reply.headers.get("retry-after"), reply.headers.get("x-countersign-lost")]).toEqual([
          503,
          "5",
          null,
        ]);
        expect(await reply.text()).toContain("<h1>The database does not answer</h1>");
      }
      expect(seen).toContain(503);
      link.mend();
      await expect.poll(async () => (await home()).status, { timeout: RUN_MS }).toBe(200);
    },
  );

  test("browsers load no code of the server", async () => {
    const folder = ".next/static";
    const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".js"));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      expect(await readFile(join(folder, file), "utf8"), file).not.toMatch(/drizzle|BETTER_AUTH_SECRET|DATABASE_URL|pg_advisory/);
    }
  });
});
