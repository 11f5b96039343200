import { spawn } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { useDatabase } from "#test/database.ts";
import { authorized, expectedOf, newWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";
import type { Credential } from "#test/tenant.ts";

/* Searches for secrets in what a server process logs at its most detailed level, answers and stores. */

const databaseOf = useDatabase();
const chain = useSettlement();

const PASSWORD = "canary-password-9c41f0d7";
const printed: string[] = [];
const answered: string[] = [];
/** Secrets by name; the test searches for their values. */
const secrets = new Map<string, string>();

let url: string;
let stop: () => Promise<number | null>;

async function startTalkative(): Promise<void> {
  const DATA_DIR = await mkdtemp(join(tmpdir(), "countersign-secrets-"));
  const child = spawn(process.execPath, ["server.ts", "--api"], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, NODE_OPTIONS: "", DATA_DIR, PORT: "0", LOG_LEVEL: "trace" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => printed.push(chunk.toString()));
  stop = () => {
    child.kill("SIGTERM");
    return ended;
  };
  while (child.exitCode === null && !printed.join("").includes("ready in")) await new Promise((done) => setTimeout(done, 20));
  url = /on (http:\/\/localhost:[0-9]+)/.exec(printed.join(""))?.[1] ?? "";
}

async function send(path: string, as: Credential, body: unknown, note = true) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...as },
    body: text,
  });
  const reply = await response.text();
  if (note) answered.push(reply, JSON.stringify([...response.headers]));
  return { status: response.status, reply, cookies: response.headers.getSetCookie() };
}

async function signUpAndIn(): Promise<void> {
  const as = { origin: env().BASE_URL };
  const person = { email: "canary@example.com", password: PASSWORD };
  await send("/api/auth/sign-up/email", as, { name: "Ada", ...person }, false);
  await send("/api/auth/sign-in/email", as, { ...person, password: `${PASSWORD}x` });
  await send("/api/auth/sign-in/email", as, `{"password":"${PASSWORD}`);
  const { cookies } = await send("/api/auth/sign-in/email", as, person, false);
  const cookie = cookies.find((line) => line.includes("session_token="))?.split(";")[0] ?? "";
  secrets.set("session cookie", cookie.split("=")[1] ?? "");
  await send("/api/v1/auth/onboarding", { ...as, cookie }, { organizationName: PASSWORD.length, productRoles: ["buyer"] });
  await send("/api/v1/payments/authorize", { ...as, cookie }, {});
}

/** Executes an allowed payment that a standard client signed, and sends some requests that fail. */
async function pay(): Promise<void> {
  const scene = await paymentScene();
  const wallet = newWallet();
  await chain().mint(wallet.address, 1_000_000n);
  const key = scene.agent.credential;
  secrets.set("API key", key["authorization"]?.slice("Bearer ".length) ?? "");
  const [paid, tried] = [await authorized(scene), await authorized(scene)];
  const paymentCredential = await signed(wallet, expectedOf(scene));
  const { payload } = JSON.parse(Buffer.from(paymentCredential, "base64").toString()) as { payload: { signature: string } };
  secrets.set("payment credential", paymentCredential);
  secrets.set("signature", payload.signature);
  const execute = (body: Record<string, unknown>, note = true) => send("/api/v1/payments/execute", key, body, note);
  const { authorizationId } = paid;
  // Of these replies, only this one contains the signed payment, which the agent must send to the seller.
  const { status, reply } = await execute({ authorizationId, idempotencyKey: "pay", paymentCredential }, false);
  expect([status, reply.includes(paymentCredential)]).toEqual([200, true]);
  const again = { authorizationId: tried.authorizationId, paymentCredential };
  expect((await execute({ ...again, idempotencyKey: "reused" })).status).toBe(402);
  expect((await execute({ ...again, idempotencyKey: "cut", paymentCredential: paymentCredential.slice(0, -9) })).status).toBe(
    402,
  );
  expect((await execute({ ...again, idempotencyKey: 7 })).status).toBe(400);
  expect((await execute({ authorizationId, idempotencyKey: "pay-2", paymentCredential })).status).toBe(409);
  await send("/api/x402/verify", key, {
    paymentPayload: JSON.parse(Buffer.from(paymentCredential, "base64").toString()) as unknown,
  });
  await send("/api/v1/payments/authorize", { authorization: `${key["authorization"]}x` }, {});
  await send("/api/v1/payments/authorize", { authorization: `${key["authorization"]}` }, `{"intent":"${key["authorization"]}`);
  // Cause unexpected errors in requests that contain the secrets.
  for (const table of ["credential_claims", "api_keys", "sellers"]) {
    await database().execute(sql.raw(`ALTER TABLE ${table} RENAME TO ${table}_away`));
    await execute({ ...again, idempotencyKey: `away-${table}` });
    await send("/api/v1/payments/authorize", key, { mandateId: scene.mandateId, intent: { metadata: { paymentCredential } } });
    await database().execute(sql.raw(`ALTER TABLE ${table}_away RENAME TO ${table}`));
  }
  await database().execute(sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'countersign%'`);
  await execute({ ...again, idempotencyKey: "terminated" });
}

beforeAll(async () => {
  secrets.set("password", PASSWORD);
  secrets.set("database password", new URL(databaseOf().url).password);
  secrets.set("API_KEY_SECRET", env().API_KEY_SECRET);
  secrets.set("AUDIT_SIGNING_KEY", env().AUDIT_SIGNING_KEY ?? "");
  secrets.set("VAPID_PRIVATE_KEY", env().VAPID_PRIVATE_KEY ?? "");
  secrets.set("BETTER_AUTH_SECRET", env().BETTER_AUTH_SECRET);
  for (const name of [
    "SETTLEMENT_PRIVATE_KEY",
    "RELAYER_PRIVATE_KEY",
    "GUARDIAN_PRIVATE_KEY",
    "POLICY_SIGNER_PRIVATE_KEY",
  ] as const) {
    secrets.set(name, env()[name]?.slice(2) ?? "");
  }
  await startTalkative();
  await signUpAndIn();
  await pay();
});
afterAll(async () => void (await stop?.()));

async function rowsOf(tables: readonly string[]): Promise<string> {
  const rows = await Promise.all(tables.map((table) => database().execute(sql.raw(`SELECT t::text AS row FROM "${table}" t`))));
  return rows
    .flat()
    .map((row) => String(row["row"]))
    .join("\n");
}

const tables = async (): Promise<string[]> => {
  const rows = await database().execute<{ name: string }>(
    sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  return rows.map(({ name }) => name);
};

/** The tables that must keep a signed payment, to send it again and to answer a retry. */
const KEEPS_CREDENTIALS = ["executions", "idempotency"];

describe("a server keeps its secrets out of", () => {
  const sinks: readonly (readonly [name: string, read: () => Promise<string>])[] = [
    ["what it printed", () => Promise.resolve(printed.join(""))],
    ["any answer but those that hand one out", () => Promise.resolve(answered.join("\n"))],
    ["the audit trail", () => rowsOf(["audit_events"])],
    ["any table that does not need it", async () => rowsOf((await tables()).filter((name) => !KEEPS_CREDENTIALS.includes(name)))],
  ];
  test.each(sinks)("%s", async (_name, read) => {
    const text = await read();
    expect(text.length).toBeGreaterThan(500);
    for (const [name, secret] of secrets) {
      expect(secret.length, name).toBeGreaterThan(6);
      expect(text.includes(secret), name).toBe(false);
      expect(text.includes(Buffer.from(secret).toString("base64")), `${name} in base64`).toBe(false);
    }
  });

  test("the tables that keep signed payments, except for the signed payment itself", async () => {
    const text = await rowsOf(KEEPS_CREDENTIALS);
    for (const [name, secret] of secrets) {
      expect(text.includes(secret), name).toBe(["payment credential", "signature"].includes(name));
    }
  });

  test("its log, although it names failures with their codes and request ids", () => {
    const lines = printed.join("");
    expect(lines).toContain('"code":"42P01"');
    expect(lines).toMatch(/"requestId":"req_/);
  });
});
