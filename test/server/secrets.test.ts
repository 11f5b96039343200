import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { createLogger } from "#lib/telemetry/log.ts";
import { serveMetrics } from "#lib/server/serve-metrics.ts";
import { noteAddress } from "#lib/http/address.ts";
import { forget, perProcess } from "#lib/process.ts";
import { dispatch } from "#lib/server/entry.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, newOrganization, newPerson, PASSWORD } from "#test/identity.ts";
import type { Credential } from "#test/tenant.ts";

/* These tests search the logs, the replies, the tables and the metrics of the service for secrets. */

useDatabase();

const logged: string[] = [];
const answered: string[] = [];
beforeAll(() => {
  forget("telemetry/log");
  perProcess("telemetry/log", () => createLogger({ write: (line) => void logged.push(line) }, "trace"));
});
afterAll(() => forget("telemetry/log"));

async function ask(
  method: string,
  path: string,
  as: Credential,
  body?: unknown,
  headers: Credential = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await dispatch(
    new Request(env().BASE_URL + path, {
      method,
      headers: { ...as, ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  answered.push(text, JSON.stringify([...response.headers]));
  return { status: response.status, body: JSON.parse(text) as Record<string, unknown> };
}

async function everyRow(): Promise<string> {
  const tables = await pool()<{ name: string }[]>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`;
  const rows = await Promise.all(tables.map(({ name }) => pool().unsafe(`SELECT t::text AS row FROM "${name}" t`)));
  return rows
    .flat()
    .map((row) => String(row["row"]))
    .join("\n");
}

describe("no secret is written", () => {
  const credential = `canary${"Q".repeat(90)}`;
  const cookieCanary = "canary-cookie-value";
  let apiKey: string;
  let sessionCookie: string;

  beforeAll(async () => {
    const owner = await newOrganization();
    sessionCookie = owner.credential["cookie"] ?? "";
    const { organizationId } = owner;
    const account = await ask(
      "POST",
      "/api/v1/auth/service-accounts",
      owner.credential,
      { name: "Agent", organizationId },
      { "idempotency-key": "secret-1" },
    );
    apiKey = String(account.body["apiKey"]);
    answered.length = 0;
    await ask(
      "POST",
      "/api/v1/auth/service-accounts",
      owner.credential,
      { name: "Agent", organizationId },
      { "idempotency-key": "secret-1" },
    );
    await ask("GET", "/api/v1/auth/service-accounts", owner.credential);
    const key = { authorization: `Bearer ${apiKey}` };
    await ask("GET", "/api/v1/mandates", key);
    await ask("POST", "/api/v1/payments/execute", key, {
      authorizationId: "aut_x",
      idempotencyKey: "k",
      paymentCredential: credential,
    });
    await ask("POST", "/api/v1/payments/execute", key, {
      authorizationId: 7,
      idempotencyKey: "k",
      paymentCredential: [credential],
    });
    await ask("POST", "/api/v1/mandates", key, `{"name":"${apiKey}`);
    await ask("GET", "/api/v1/mandates", { authorization: `Bearer ${apiKey}x` });
    await ask("GET", "/api/v1/mandates", { cookie: `countersign.session_token=${cookieCanary}` });
    await callAuth("/sign-in/email", { email: (await newPerson()).email, password: `${PASSWORD} wrong` });
    // Cause an unexpected error in a request that contains the key.
    await pool()`ALTER TABLE mandates RENAME TO mandates_away`;
    expect((await ask("GET", "/api/v1/mandates", key)).status).toBe(500);
    await pool()`ALTER TABLE mandates_away RENAME TO mandates`;
  });

  const sinks: readonly (readonly [name: string, read: () => string | Promise<string>])[] = [
    ["the log", () => logged.join("")],
    ["any reply but the one that shows the key once", () => answered.join("\n")],
    ["any table", everyRow],
    [
      "the metrics",
      async () => {
        const request = new Request("http://localhost/metrics", { headers: { host: "localhost" } });
        noteAddress(request, "127.0.0.1");
        return (await serveMetrics(request)).text();
      },
    ],
  ];
  test.each(sinks)("to %s", async (_name, read) => {
    const text = await read();
    expect(text.length).toBeGreaterThan(100);
    for (const secret of [
      apiKey,
      apiKey.slice(-40),
      credential.slice(0, 60),
      cookieCanary,
      PASSWORD,
      sessionCookie.split("=")[1] ?? "?",
      env().API_KEY_SECRET,
      env().BETTER_AUTH_SECRET,
    ]) {
      expect(text.includes(secret)).toBe(false);
    }
  });

  test("the unexpected error is in the log with its SQLSTATE and request id, and in the reply only with the request id", () => {
    const line = logged
      .map((one) => JSON.parse(one) as Record<string, unknown>)
      .find(({ message }) => message === "Unexpected error");
    expect(JSON.stringify(line)).toContain('"code":"42P01"');
    const reply = answered.find((one) => one.includes("internal_error")) ?? "";
    expect(reply).toContain(String(line?.["requestId"]));
    expect(reply).not.toMatch(/42P01|mandates|relation|SELECT/i);
  });
});
