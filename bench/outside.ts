import { fork } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { call } from "#lib/http/client.ts";
import { emergencyRevoke } from "#lib/platform/contract.ts";
import { nodeFlags } from "../scripts/node-flags.ts";
import { load } from "./load.ts";
import { authorizeBody, setScene, type Scene } from "./scene.ts";
import { start, type BenchServer } from "./server.ts";

/**
 * The results of the API while `pageConnections` connections load `page`; with 0 connections, the results of the API alone.
 * `emergencyMs` is the slowest of several emergency stops.
 */
export type Outside = {
  readonly pageConnections: number;
  readonly page: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
  readonly emergencyMs: number;
  readonly pages: Readonly<Record<string, number>>;
};

const FLOOD = 250;
const CONNECTIONS = 16;
const EMERGENCIES = 5;

async function flooded<T>(url: string, connections: number, measure: () => Promise<T>) {
  if (connections === 0) return { pages: {}, measured: await measure() };
  const flood = fork("bench/flood.ts", [url, String(connections)]);
  await pause(1_000);
  const measured = await measure();
  const told = new Promise<Record<string, number>>((resolve) =>
    flood.once("message", (counts) => resolve(counts as Record<string, number>)),
  );
  flood.send("end");
  return { pages: await told, measured };
}

async function measure(server: BenchServer, scene: Scene, mandateId: string, seconds: number) {
  const targets = scene.keys.map((key) => ({
    port: server.port,
    path: "/api/v1/payments/authorize",
    headers: { Authorization: `Bearer ${key}` },
  }));
  const good = (status: number, body: string) => status === 200 && body.includes('"outcome":"allow"');
  const { p50Ms, p99Ms, errors } = await load({
    targets,
    connections: CONNECTIONS,
    seconds,
    body: () => authorizeBody(scene, mandateId),
    good,
  });
  let emergencyMs = 0;
  for (let turn = 0; turn < EMERGENCIES; turn += 1) {
    const body = { reason: "Measured by the bench", mandateId: await scene.mandate("1") };
    const begun = performance.now();
    await call(emergencyRevoke, { body }, { baseUrl: server.url, headers: scene.person });
    emergencyMs = Math.max(emergencyMs, performance.now() - begun);
  }
  return { p50Ms, p99Ms, errors, emergencyMs };
}

/**
 * Measures the API without and with visitors that load pages: the times of the requests of 16 connections that authorize
 * payments, then the slowest of five emergency stops.
 */
export async function measureOutside(
  databaseUrl: string,
  environment: Readonly<Record<string, string>>,
  seconds: number,
): Promise<Outside[]> {
  const server = await start([...nodeFlags, "server.ts"], environment, "/api/v1/health/live");
  try {
    const scene = await setScene(server.url, 4);
    const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
    await sql`UPDATE "user" SET platform_roles = '{user,admin}'`;
    await sql.end();
    const mandateId = await scene.mandate("1000000");
    await measure(server, scene, mandateId, 2);
    const rows: Outside[] = [];
    for (const [page, pageConnections] of [
      ["none", 0],
      ["/docs", FLOOD],
      ["/sign-in", FLOOD],
    ] as const) {
      const { pages, measured } = await flooded(server.url + page, pageConnections, () =>
        measure(server, scene, mandateId, seconds),
      );
      rows.push({ page, pageConnections, ...measured, pages });
    }
    return rows;
  } finally {
    await server.stop();
  }
}
