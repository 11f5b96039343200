import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, stat } from "node:fs/promises";
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
  test("SIGTERM lets the request under way finish and takes no new one", async () => {
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

  test("production refuses weak, equal and missing secrets, and never repeats them", async () => {
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

  test("a sandbox's database is refused to production", async () => {
    const server = await runServer({ ...production, DATABASE_URL: database().url });
    expect(await server.ended).toBe(1);
    expect(server.said()).toContain("belongs to the sandbox environment and ENVIRONMENT is production");
  });

  test("a port that is taken ends the start with a sentence, and leaves no database behind", async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, done));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const dataDir = await mkdtemp(join(tmpdir(), "countersign-test-"));
    await chmod(dataDir, 0o755);
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const server = await runServer({ DATABASE_URL: "", DATA_DIR: dataDir, PORT: String(port) });
    expect(await server.ended).toBe(1);
    expect(server.said()).toContain("EADDRINUSE");
    await expect(stat(join(dataDir, "postgres/data/postmaster.pid"))).rejects.toThrow("ENOENT");
  });

  test("production prints the set-up code at the first start alone", async () => {
    const empty = await createDatabase({ empty: true });
    onTestFinished(() => empty.drop());
    const code = /set-up code, for the first platform admin: ([0-9A-Z]{4}(-[0-9A-Z]{4}){5})/;
    const first = await runServer({ ...production, DATABASE_URL: empty.url });
    await expect.poll(() => first.said()).toMatch(code);
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    const second = await runServer({ ...production, DATABASE_URL: empty.url });
    second.child.kill("SIGTERM");
    expect(await second.ended).toBe(0);
    expect(second.said()).not.toContain("set-up code");
  });

  test("kill -9 and a new start find everything again, and a database that dies comes back", async () => {
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
    await expect.poll(serverPid, { timeout: 20_000 }).not.toBe(killed);
    await expect.poll(failing, { timeout: 20_000 }).not.toContain("database");
    again.child.kill("SIGTERM");
    expect(await again.ended).toBe(0);
    await expect(stat(lock)).rejects.toThrow("ENOENT");
  });
});
