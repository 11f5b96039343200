import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDatabase, useDatabase } from "#test/database.ts";
import { runServer } from "#test/running-server.ts";

const database = useDatabase();

const live = (url: string) => fetch(`${url}/api/v1/health/live`);

const production = {
  ENVIRONMENT: "production",
  SHUTDOWN_DELAY_MS: "0",
  BASE_URL: "https://pay.example.org",
  BETTER_AUTH_SECRET: "qT5mJ0w8Zr2Xk7Vb9Ny4Hs6Lc1Pd3FgA",
  API_KEY_SECRET: "uR8nK1x9As3Yl6Wc0Oz5It7Md2Qe4GhB",
  AUDIT_SIGNING_KEY: "c2lnbnMgdGhlIGNoZWNrcG9pbnRzIG9mIHRlc3RzISE",
  SETTLEMENT_PRIVATE_KEY: `0x${"1f".repeat(32)}`,
  CHAINS: JSON.stringify([
    {
      chain: "eip155:8453",
      rpcUrl: "http://127.0.0.1:1",
      confirmations: 2,
      assets: [
        { asset: "USDC", tokenAddress: `0x${"11".repeat(20)}`, tokenName: "USD Coin", tokenVersion: "2", tokenDecimals: 6 },
      ],
    },
  ]),
};

describe("the server", () => {
  test("SIGTERM finishes open requests and accepts no new ones", async () => {
    const server = await runServer({ DATABASE_URL: database().url });
    const { origin } = new URL(server.url.replace("127.0.0.1", "localhost"));
    const body = JSON.stringify({ name: "Ada", email: "ada@example.org", password: "correct horse battery" });
    const outgoing = request(`${server.url}/api/auth/sign-up/email`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body), Origin: origin },
    });
    outgoing.write(body.slice(0, 10));
    await pause(200);
    server.child.kill("SIGTERM");
    await pause(200);
    await expect(live(server.url)).rejects.toThrow();
    outgoing.end(body.slice(10));
    const [reply] = (await once(outgoing, "response")) as [IncomingMessage];
    expect(reply.statusCode).toBe(200);
    reply.resume();
    expect(await server.ended).toBe(0);
  });

  test("production refuses weak, equal and missing secrets, and never prints them", async () => {
    const weak = "change-me-change-me-change-me-change-me";
    const server = await runServer({
      ...production,
      DATABASE_URL: database().url,
      API_KEY_SECRET: weak,
      BETTER_AUTH_SECRET: weak,
    });
    expect(await server.ended).toBe(1);
    expect(server.said()).toMatch(/BETTER_AUTH_SECRET is weak/);
    expect(server.said()).toMatch(/API_KEY_SECRET must differ/);
    expect(server.said()).not.toContain(weak);
    const none = await runServer({ ...production, DATABASE_URL: database().url, API_KEY_SECRET: "" });
    expect(await none.ended).toBe(1);
    expect(none.said()).toContain("API_KEY_SECRET");
  });

  test("production starts the embedded database only if configured, and reports all errors at once", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "countersign-test-"));
    await chmod(dataDir, 0o755);
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const embedded = { ...production, DATABASE_URL: "", DATA_DIR: dataDir };
    const refused = await runServer({ ...embedded, SETTLEMENT_PRIVATE_KEY: "", LOG_LEVEL: "loud" });
    expect(await refused.ended).toBe(1);
    expect(refused.said()).toMatch(/DATABASE_URL must name a PostgreSQL server, unless EMBEDDED_DATABASE=yes/);
    expect(refused.said()).toMatch(/SETTLEMENT_PRIVATE_KEY must be given in production[^]*LOG_LEVEL must be one of/);
    expect(await readdir(dataDir)).toEqual([]);
    const told = await runServer({ ...embedded, EMBEDDED_DATABASE: "yes" });
    expect((await live(told.url)).status).toBe(200);
    expect(told.said()).toContain("PostgreSQL 18 is embedded");
  });

  test("a sandbox that cannot reach its chain serves at once, and prints once what to do without internet", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
    onTestFinished(() => void silent.close());
    const rpcUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v2/key-of-the-provider`;
    const [configured] = JSON.parse(production.CHAINS) as [Record<string, unknown>];
    const sandbox = { ENVIRONMENT: "sandbox", DATABASE_URL: database().url };
    for (const one of [{ ...configured, rpcUrl }, configured]) {
      const server = await runServer({ ...sandbox, CHAINS: JSON.stringify([one]) });
      expect((await live(server.url)).status).toBe(200);
      const tells = /chain eip155:8453 cannot be reached/g;
      await expect.poll(() => server.said()).toMatch(tells);
      // The message has several lines, which may arrive one after another.
      await expect.poll(() => server.said()).toContain("npm run demo");
      await expect.poll(() => server.said()).toMatch(/CHAINS='\[\{"chain":"eip155:8453","rpcUrl":"http:\/\/127\.0\.0\.1:8545"/);
      expect(server.said()).not.toContain("key-of-the-provider");
      await pause(1_000);
      expect(server.said().match(tells)).toHaveLength(1);
    }
  });

  test("production refuses the database of a sandbox", async () => {
    const server = await runServer({ ...production, DATABASE_URL: database().url });
    expect(await server.ended).toBe(1);
    expect(server.said()).toContain("belongs to the sandbox environment and ENVIRONMENT is production");
  });

  test("a terminal that closes ends the service in order, although nobody reads its output", async () => {
    const server = await runServer({ DATABASE_URL: database().url });
    server.child.stderr!.destroy();
    server.child.kill("SIGHUP");
    expect(await server.ended).toBe(0);
  });

  test("a port in use ends the start with one sentence, and the database stops too", async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, done));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const dataDir = await mkdtemp(join(tmpdir(), "countersign-test-"));
    await chmod(dataDir, 0o755);
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const server = await runServer({ DATABASE_URL: "", DATA_DIR: dataDir, PORT: String(port) });
    expect(await server.ended).toBe(1);
    expect(server.said()).toContain(`Port ${port} is taken. Set PORT to another one.`);
    await expect(stat(join(dataDir, "postgres/data/postmaster.pid"))).rejects.toThrow("ENOENT");
  });

  test("production prints the set-up code only at the first start", async () => {
    const empty = await createDatabase({ empty: true });
    onTestFinished(() => empty.drop());
    const code = /set-up code, for the first platform admin at \S+\/claim: ([0-9A-Z]{4}(-[0-9A-Z]{4}){5})/;
    const first = await runServer({ ...production, DATABASE_URL: empty.url });
    await expect.poll(() => first.said()).toMatch(code);
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    const second = await runServer({ ...production, DATABASE_URL: empty.url });
    second.child.kill("SIGTERM");
    expect(await second.ended).toBe(0);
    expect(second.said()).not.toContain("set-up code");
  });

  test("all data survives kill -9 and a new start, and a database that dies is started again", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "countersign-test-"));
    await chmod(dataDir, 0o755);
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const first = await runServer({ DATABASE_URL: "", DATA_DIR: dataDir });
    first.child.kill("SIGKILL");
    await first.ended;
    const again = await runServer({ DATABASE_URL: "", DATA_DIR: dataDir });
    expect((await live(again.url)).status).toBe(200);
    expect((await stat(join(dataDir, "secrets.json"))).mode & 0o777).toBe(0o600);

    const lock = join(dataDir, "postgres/data/postmaster.pid");
    const serverPid = async () => Number((await readFile(lock, "utf8").catch(() => "")).split("\n")[0]);
    const killed = await serverPid();
    process.kill(killed, "SIGKILL");
    const failing = async () => {
      const reply = await fetch(`${again.url}/api/v1/health/ready`);
      expect([200, 503]).toContain(reply.status);
      return ((await reply.json()) as { detail?: string }).detail ?? "";
    };
    await expect.poll(serverPid).not.toBe(killed);
    await expect.poll(failing).not.toContain("database");
    again.child.kill("SIGTERM");
    expect(await again.ended).toBe(0);
    await expect(stat(lock)).rejects.toThrow("ENOENT");
  });
});
