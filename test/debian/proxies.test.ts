import { chmod, mkdtemp, rm } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { forget } from "#lib/process.ts";
import { newIntent } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { freePort } from "#test/free-port.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";
import { proxies, startProxy } from "#test/reverse-proxies.ts";
import { runServer, type RunningServer } from "#test/running-server.ts";
import type { Credential } from "#test/tenant.ts";

/* The configurations of docs/operate/proxies.md, as they stand there, in front of two processes with pages. */

const database = useDatabase();
const CLIENTS = 16;
const LIMIT = 20;
const METRICS_TOKEN = "only-the-tests-know-this-token-of-32";

type Sent = { readonly method?: string; readonly headers?: Credential; readonly body?: unknown; readonly from?: string };
type Reply = { readonly status: number; readonly text: string };

/** The status of a reply, or why there is none. */
const statusOf = (reply: Promise<Reply>): Promise<string> => reply.then(({ status }) => String(status), String);

describe.each(proxies)("$name", (proxy) => {
  const ends: (() => Promise<unknown>)[] = [];
  const servers: RunningServer[] = [];
  let port = 0;
  let running: Awaited<ReturnType<typeof startProxy>>;
  let buyer: Buyer;
  let mandateId = "";
  beforeAll(async () => {
    port = await freePort();
    process.env["BASE_URL"] = `https://localhost:${port}`;
    forget("env");
    buyer = await createBuyer();
    mandateId = await activeMandate(buyer.person.credential, {
      policy: { assets, limits: { perPayment: "1", total: "1000000" } },
    });
    const shared = { DATABASE_URL: database().url, BASE_URL: process.env["BASE_URL"], TRUSTED_PROXY_HOPS: "1", METRICS_TOKEN };
    const variables = { ...shared, RATE_LIMIT_PER_ADDRESS: String(LIMIT), SHUTDOWN_DELAY_MS: "5000" };
    const start = () => runServer(variables, { pages: true, atEnd: (end) => ends.push(end) });
    servers.push(await start(), await start());
    const folder = await mkdtemp(join(tmpdir(), "countersign-proxy-"));
    await chmod(folder, 0o755);
    ends.push(() => rm(folder, { recursive: true, force: true }));
    running = await startProxy(
      proxy,
      folder,
      port,
      servers.map(({ url }) => url),
    );
    ends.push(running.stop);
    while ((await statusOf(ask("/sign-in"))) !== "200") await pause(200);
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  const open = (path: string, { method = "GET", headers = {}, body, from = "127.0.0.1" }: Sent = {}) => {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const type =
      content === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(content) };
    const address = { host: "127.0.0.1", port, path, method, localAddress: from, rejectUnauthorized: false };
    const outgoing = request({
      ...address,
      servername: "localhost",
      headers: { host: `localhost:${port}`, ...type, ...headers },
    });
    outgoing.end(content);
    return outgoing;
  };

  const ask = (path: string, sent?: Sent): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const outgoing = open(path, sent);
      // nginx closes idle connections when its configuration is reloaded, also one on which a client begins to send just then.
      const failed = (error: unknown): void => (outgoing.reusedSocket ? resolve(ask(path, sent)) : reject(error));
      outgoing.once("error", failed).once("response", (reply) => {
        let text = "";
        reply.on("data", (chunk: Buffer) => (text += chunk.toString())).once("error", reject);
        reply.once("end", () => resolve({ status: reply.statusCode ?? 0, text }));
      });
    });

  const authorize = () => {
    const body = { mandateId, intent: newIntent(buyer) };
    return ask("/api/v1/payments/authorize", { method: "POST", headers: buyer.agent.credential, body });
  };

  test("the sign-in page and the API are served", async () => {
    expect((await ask("/sign-in")).text).toContain("</html>");
    expect(JSON.parse((await authorize()).text)).toMatchObject({ policyDecision: { outcome: "allow" } });
    expect((await ask("/.well-known/jwks.json")).text).toContain("ES256");
  });

  test("the Host header is kept", async () => {
    // With another name the service would answer 403.
    expect((await ask("/mcp", { method: "POST", body: {} })).status).toBe(401);
  });

  test("the stream of changes is passed on while it is open, and through silence", async () => {
    let text = "";
    const outgoing = open("/changes", { headers: buyer.person.credential });
    outgoing.on("response", (reply) => reply.on("data", (chunk: Buffer) => (text += chunk.toString())).on("error", () => {}));
    outgoing.on("error", () => {});
    await expect.poll(() => text).toContain("retry:");
    const { organizationId } = buyer;
    await expect.poll(() => text.split("\n").filter((line) => line === ":").length).toBe(2);
    const event = { type: "payment.denied", actorId: "test", organizationId, entityType: "authorization", metadata: {} } as const;
    await transact(async (tx) => audit(tx, { ...event, entityId: "auth_1" }, await clock(tx)));
    await expect.poll(() => text).toContain('data: {"changes":[{"kind":"payment","id":"auth_1"}]');
    outgoing.destroy();
  });

  test("the address of the client counts, and not one that it forges", async () => {
    let forged = 0;
    const read = (from: string) =>
      ask("/api/v1/payments", { from, headers: { "x-forwarded-for": `192.0.2.${(forged += 1) % 256}` } }).then(
        ({ status }) => status,
      );
    await expect.poll(() => Promise.all(Array.from({ length: 5 * LIMIT }, () => read("127.0.0.2")))).toContain(429);
    expect(await read("127.0.0.3")).toBe(401);
  });

  test("no request fails while a process ends", async () => {
    const statuses = new Map<string, number>();
    const end = new AbortController();
    const client = async (name: string, send: () => Promise<Reply>, everyMs: number): Promise<void> => {
      while (!end.signal.aborted) {
        const status = await statusOf(send());
        statuses.set(`${name} ${status}`, (statuses.get(`${name} ${status}`) ?? 0) + 1);
        await pause(everyMs);
      }
    };
    const clients = Promise.all([
      ...Array.from({ length: CLIENTS }, () => client("API", authorize, 50)),
      client("page", () => ask("/sign-in"), 500),
    ]);
    const first = servers[0]!;
    const served = async (): Promise<number> => {
      const reply = await fetch(`${first.url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
      const lines = (await reply.text()).matchAll(/^countersign_request_duration_seconds_count\{.*authorizePayment.*\} (\d+)$/gm);
      return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await expect.poll(served).toBeGreaterThan(50);
    const isUnused = async (): Promise<void> => {
      let before = -1;
      await expect.poll(async () => before === (before = await served()), { interval: 500 }).toBe(true);
    };
    if (!proxy.checksHealth) {
      await running.takeOut(first.url);
      await isUnused();
    }
    first.child.kill("SIGTERM");
    // The process still serves, but the proxy has seen its health check fail.
    await isUnused();
    expect(await first.ended).toBe(0);
    await pause(1_000);
    end.abort();
    await clients;
    expect([...statuses.keys()].toSorted()).toEqual(["API 200", "page 200"]);
  });
});
