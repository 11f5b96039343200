import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { get, request, type IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { RUN_MS } from "#test/run-time.ts";
import { checkOf, pageOf, runServer, sharedServer, type RunningServer } from "#test/running-server.ts";

const database = useDatabase();

const start = (variables: Record<string, string> = {}) =>
  runServer({ DATABASE_URL: database().url, ...variables }, { pages: true });

/** The id of the process that renders the pages of this server. */
function pagesOf({ child }: RunningServer): number {
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ");
  const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("pages.ts"));
  if (found === undefined) throw new Error("There is no pages process.");
  return Number(found);
}

const alive = (pid: number): boolean => {
  try {
    // A zombie process has already ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

/** The port on which a process listens with IPv4, read from the kernel. 0 if there is none. */
function portOf(pid: number): number {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)));
  const rows = readFileSync(`/proc/${pid}/net/tcp`, "utf8").split("\n").slice(1);
  const listening = rows
    .map((row) => row.trim().split(/\s+/))
    .find((row) => row[3] === "0A" && sockets.has(`socket:[${row[9]}]`));
  return Number.parseInt(listening?.[1]?.split(":")[1] ?? "0", 16);
}

type Answer = { readonly status: number; readonly headers: IncomingMessage["headers"]; readonly body: string };

function ask(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (reply) => {
      let body = "";
      reply.on("data", (chunk: Buffer) => (body += chunk.toString()));
      reply.once("end", () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body }));
      reply.once("error", reject);
    });
    outgoing.once("error", reject).end();
  });
}

describe("the pages process", () => {
  test("is separate, has a lower priority, and is replaced when it is killed, while the API answers", async () => {
    const server = await start();
    const pages = () => checkOf(server.url, "pages");
    expect((await pageOf(server.url)).status).toBe(200);
    const first = pagesOf(server);
    expect(
      readFileSync(`/proc/${first}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ")[16],
    ).toBe("10");
    process.kill(first, "SIGKILL");
    await expect.poll(() => alive(first)).toBe(false);
    await expect.poll(pages, { interval: 20 }).toBe("degraded");
    expect((await fetch(`${server.url}/api/v1/health/ready`)).status).toBe(200);
    expect((await pageOf(server.url)).status).toBe(200);
    expect(pagesOf(server)).not.toBe(first);
    await expect.poll(pages).toBe("ready");
  });

  test("ends together with its parent, however the parent ends", async () => {
    const server = await start();
    expect((await pageOf(server.url)).status).toBe(200);
    const pages = pagesOf(server);
    server.child.kill("SIGKILL");
    await server.ended;
    await expect.poll(() => alive(pages)).toBe(false);
  });

  test("finishes a page after SIGTERM, also if every process gets the signal", async () => {
    const server = await start();
    expect((await pageOf(`${server.url}/docs`)).status).toBe(200);
    const pages = pagesOf(server);
    process.kill(pages, "SIGSTOP");
    const page = ask(`${server.url}/docs`);
    await pause(200);
    process.kill(pages, "SIGTERM");
    server.child.kill("SIGTERM");
    await pause(300);
    process.kill(pages, "SIGCONT");
    const { status, body } = await page;
    expect([status, body.endsWith("</html>")]).toEqual([200, true]);
    expect(await server.ended).toBe(0);
    expect(alive(pages)).toBe(false);
  });

  test("429 with a page of its own for an address with too many requests, while the API still answers", async () => {
    const { url } = await start({ RATE_LIMIT_PAGES: "1" });
    const isRendered = async () => (await ask(`${url}/llms.txt?${Math.random()}`)).status === 200;
    // The first answer may be late on a busy machine. After it, six seconds without a request give all five pages back.
    await expect.poll(isRendered, { interval: 1_500, timeout: RUN_MS }).toBe(true);
    await pause(6_000);
    const replies = await Promise.all(Array.from({ length: 12 }, () => ask(`${url}/llms.txt?${Math.random()}`)));
    const refused = replies.filter(({ status }) => status === 429);
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    expect(refused[0]!.headers["retry-after"]).toBe("2");
    expect(refused[0]!.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(refused[0]!.body).toContain("<h1>Too many pages at once</h1>");
    expect((await fetch(`${url}/api/v1/health/live`)).status).toBe(200);
  });
});

describe("one pages process", () => {
  const shared = sharedServer(() => ({ DATABASE_URL: database().url }));

  test("answers only its parent", async () => {
    const server = shared();
    expect((await pageOf(server.url)).status).toBe(200);
    const port = portOf(pagesOf(server));
    expect(port).toBeGreaterThan(0);
    const own = `http://127.0.0.1:${port}`;
    for (const headers of [{}, { "x-countersign-secret": "" }, { "x-countersign-secret": "guess", "x-countersign-local": "1" }]) {
      expect((await ask(`${own}/outbox`, headers)).status).toBe(403);
    }
  });

  test("/outbox opens only for this machine, whatever headers a client sends", async () => {
    const { url } = shared();
    expect((await pageOf(`${url}/outbox`)).status).toBe(200);
    const forged = { "x-countersign-local": "1", "X-Countersign-Secret": "guess", "x-countersign-address": "127.0.0.1" };
    const port = new URL(url).port;
    expect((await ask(`${url}/outbox`, { ...forged, "x-forwarded-for": "203.0.113.9" })).status).toBe(404);
    expect((await ask(`${url}/outbox`, { ...forged, host: `attacker.example:${port}` })).status).toBe(404);
    expect((await ask(`${url}/outbox`, { ...forged, via: "1.1 proxy" })).status).toBe(404);
  });

  test("does not serve the API, however its path is written", async () => {
    const { url } = shared();
    for (const path of [
      "/%61pi/v1/health/live",
      "//api/v1/health/live",
      "/API/v1/health/live",
      "/%2fapi/v1/health/live",
      "/%6detrics",
      "/docs/..%2fapi/v1/health/live",
    ]) {
      const { status, body } = await ask(url + path);
      expect([path, status, body.includes("alive")]).toEqual([path, 404, false]);
    }
    expect((await ask(url, {}, "POST")).status).toBe(405);
    const head = await pageOf(`${url}/sign-in`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("503 for more pages than can be rendered at once, and a process that hangs delays neither the API nor the public keys", async () => {
    const server = shared();
    const { credential } = await newOrganization({ productRoles: ["buyer"] });
    expect((await ask(server.url)).status).toBe(200);
    process.kill(pagesOf(server), "SIGSTOP");
    const pages = Array.from({ length: 20 }, () => ask(server.url));
    const first = await Promise.race(pages);
    expect([first.status, first.headers["retry-after"]]).toEqual([503, "2"]);
    // These would wait for as long as the pages process is stopped if they went through it.
    expect((await fetch(`${server.url}/api/v1/auth/session`, { headers: credential })).status).toBe(200);
    expect((await fetch(`${server.url}/.well-known/jwks.json`)).status).toBe(200);
    process.kill(pagesOf(server), "SIGCONT");
    const busy = (await Promise.all(pages)).filter(({ body }) => body.includes("Too many pages are requested"));
    expect(busy).toHaveLength(4);
  });

  test("the files of several pages that are opened at once are all served, while pages wait for the process", async () => {
    const server = shared();
    const [script = ""] = /\/_next\/static\/[^"]+\.js/.exec((await ask(server.url)).body) ?? [];
    process.kill(pagesOf(server), "SIGSTOP");
    const pages = Array.from({ length: 16 }, () => ask(server.url));
    // With a query, files are not cached.
    const files = Array.from({ length: 48 }, (_, at) => ask(`${server.url}${script}?${at}`));
    await pause(100);
    process.kill(pagesOf(server), "SIGCONT");
    const types = (await Promise.all(files)).map(({ status, headers }) => [status, headers["content-type"]]);
    expect(new Set(types.map(String))).toEqual(new Set(["200,application/javascript; charset=UTF-8"]));
    await Promise.all(pages);
  });

  test("a client that disconnects ends its page, and static files are served without the process", async () => {
    const server = shared();
    const home = await ask(server.url);
    const [script = ""] = /\/_next\/static\/[^"]+\.js/.exec(home.body) ?? [];
    const first = await ask(server.url + script, { "accept-encoding": "gzip" });
    process.kill(pagesOf(server), "SIGSTOP");
    const kept = await ask(server.url + script, { "accept-encoding": "gzip" });
    expect([kept.status, kept.body]).toEqual([200, first.body]);
    for (const name of ["cache-control", "content-security-policy", "content-type", "etag", "x-content-type-options"])
      expect(kept.headers[name], name).toBe(first.headers[name]);
    const again = await ask(server.url + script, { "accept-encoding": "gzip", "if-none-match": String(first.headers.etag) });
    expect(again.status).toBe(304);
    // The service renders a limited number of pages at once. Each of these requests counts until its client disconnects.
    for (let turn = 0; turn < 3; turn += 1) {
      const gone = Array.from({ length: 16 }, () => get(server.url, { agent: false }).on("error", () => {}));
      await pause(100);
      for (const one of gone) one.destroy();
      await pause(100);
    }
    const page = ask(server.url);
    // It has a place: a page without one is refused at once.
    expect(await Promise.race([page, pause(1_000, "waits")])).toBe("waits");
    process.kill(pagesOf(server), "SIGCONT");
    const { status, body } = await page;
    expect(body).not.toContain("Too many pages are requested");
    // On a busy machine the process may still be late with it.
    expect(status === 503 ? (await pageOf(server.url)).status : status).toBe(200);
  });
});
