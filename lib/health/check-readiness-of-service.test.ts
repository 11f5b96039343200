import { beforeEach, describe, expect, test } from "vitest";
import { closePools, batchPool, database, mainPool, urgentPool } from "#lib/db/client.ts";
import { readEnv } from "#lib/env.ts";
import { checkReadinessOfService } from "#lib/health/check-readiness-of-service.ts";
import * as contract from "#lib/health/contract.ts";
import { noteStopping } from "#lib/health/lifecycle.ts";
import { forget, perProcess } from "#lib/process.ts";
import { webhookEndpoints } from "#lib/webhooks/tables.ts";
import { createDatabase, useDatabase } from "#test/database.ts";
import { useSettlement } from "#test/payments.ts";
import { send } from "#test/tenant.ts";

useDatabase();
useSettlement();

const ready = () => send(contract.checkReadinessOfService, checkReadinessOfService);

/** Breaks part of the configuration, asks whether the service is ready, and restores the configuration. */
async function readyWith(variables: Readonly<Record<string, string>>) {
  const kept = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  const renew = async () => {
    await closePools();
    forget("env", "health/probes", "health/commits", "db/connections/commits", "chains/client eip155:84532");
  };
  await renew();
  Object.assign(process.env, variables);
  try {
    return await ready();
  } finally {
    await renew();
    Object.assign(process.env, kept);
  }
}

describe("checkReadinessOfService", () => {
  beforeEach(() => forget("health/probes"));

  test("200 names its checks", async () => {
    const { status, data } = await ready();
    expect(status).toBe(200);
    expect(data).toEqual(contract.checkReadinessOfService.example.response);
  });

  test("503 within the time limit while the database is unavailable, and 200 when it is back", async () => {
    const started = performance.now();
    const { status, headers, problem } = await readyWith({ DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" });
    expect([status, problem.code, headers.get("retry-after")]).toEqual([503, "service_unavailable", "2"]);
    expect(problem.detail).toBe("The service is not ready: database, authorizations, emergencies, commits, migrations.");
    expect(performance.now() - started).toBeLessThan(20_000);
    expect((await ready()).status).toBe(200);
  });

  test("503 on a database without the tables of this service", async () => {
    const empty = await createDatabase({ empty: true });
    const { problem } = await readyWith({ DATABASE_URL: empty.url });
    expect(problem.detail).toBe(
      "The service is not ready: commits, migrations. Nothing can be saved, because a write fails with SQLSTATE 42P01.",
    );
    await empty.drop();
  });

  test("200 with a degraded chain while a chain does not answer, because authorizing still works", async () => {
    const chains = readEnv(process.env).CHAINS.map((one) => ({ ...one, rpcUrl: "http://127.0.0.1:1" }));
    const { status, data } = await readyWith({ CHAINS: JSON.stringify(chains) });
    expect(status).toBe(200);
    expect(data.checks.filter((check) => check.status === "degraded")).toEqual([{ name: "chains", status: "degraded" }]);
  });

  test("200 with degraded webhooks while the secrets of an endpoint were encrypted with a key that is not configured", async () => {
    const owner = { organizationId: "org_test", url: "https://example.com/", publicKey: "", eventTypes: [], sequence: 0 };
    const row = { ...owner, webhookEndpointId: "whe_test", status: "enabled" as const, sealed: "1.unknown.AAAA" };
    await database().insert(webhookEndpoints).values(row);
    const { status, data } = await ready();
    await database().delete(webhookEndpoints);
    expect([status, data.checks.filter((check) => check.status === "degraded")]).toEqual([
      200,
      [{ name: "webhooks", status: "degraded" }],
    ]);
  });

  test.each([
    ["database", mainPool],
    ["authorizations", batchPool],
    ["emergencies", urgentPool],
  ] as const)("503 names %s while none of its connections is free", async (name, poolOf) => {
    const pool = poolOf();
    const held = Promise.withResolvers<void>();
    const holding = Array.from({ length: 16 }, () => pool.use(() => held.promise).catch(() => {}));
    let reply: Awaited<ReturnType<typeof ready>> | null = null;
    await expect.poll(async () => (reply = await ready()).problem?.detail).toContain(name);
    held.resolve();
    await Promise.all(holding);
    expect(reply).toMatchObject({ status: 503 });
  });

  test("503 while the process is stopping", async () => {
    noteStopping();
    const { status, problem } = await ready();
    forget("health/lifecycle");
    expect([status, problem.detail]).toEqual([503, "This process is stopping. Send requests to another one."]);
  });

  test("many calls at the same time run the checks once", async () => {
    await ready();
    const kept = perProcess("health/probes", () => null);
    const first = (kept as { findings?: unknown } | null)?.findings;
    await Promise.all(Array.from({ length: 20 }, ready));
    expect((perProcess("health/probes", () => null) as { findings?: unknown } | null)?.findings).toBe(first);
  });
});
