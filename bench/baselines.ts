import { spawn } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { load, type Measurement } from "./load.ts";
import { start } from "./server.ts";

const root = join(import.meta.dirname, "..");

/**
 * Measures the database driver without a service: transactions that update the same row and insert one row. It uses the driver's
 * default pool.
 */
export async function driverAlone(url: string, clients: number, seconds: number): Promise<Measurement> {
  const sql = postgres(url, { onnotice: () => {} });
  await sql`CREATE TABLE IF NOT EXISTS bench_budget (id int PRIMARY KEY, reserved numeric NOT NULL)`;
  await sql`CREATE TABLE IF NOT EXISTS bench_decision (id bigserial PRIMARY KEY, body text NOT NULL)`;
  await sql`INSERT INTO bench_budget VALUES (1, 0) ON CONFLICT DO NOTHING`;
  const times: number[] = [];
  const began = performance.now();
  const until = began + seconds * 1000;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < until) {
        const started = performance.now();
        await sql.begin(async (tx) => {
          const held = await tx`UPDATE bench_budget SET reserved = reserved + 1 WHERE id = 1 AND reserved + 1 <= 1000000000`;
          await tx`INSERT INTO bench_decision (body) VALUES (${held.count === 1 ? "allow" : "deny"})`;
        });
        times.push(performance.now() - started);
      }
    }),
  );
  const elapsed = (performance.now() - began) / 1000;
  await sql`DROP TABLE bench_budget, bench_decision`;
  await sql.end();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { requests: times.length, perSecond: times.length / elapsed, p50Ms: at(0.5), p99Ms: at(0.99), errors: 0 };
}

/** Builds and serves a Next.js application with one constant route handler. */
export async function nextConstant(connections: number, seconds: number): Promise<Measurement> {
  const folder = await mkdtemp(join(root, "bench", ".next-constant-"));
  const next = join(root, "node_modules/next/dist/bin/next");
  try {
    await cp(join(root, "bench/next-constant"), folder, { recursive: true });
    const build = spawn(process.execPath, [next, "build"], {
      cwd: folder,
      stdio: "ignore",
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
    });
    const code = await new Promise((resolve) => build.once("exit", resolve));
    if (code !== 0) throw new Error("The Next.js baseline could not be built.");
    const server = await start([next, "start"], {}, "/", folder);
    try {
      const target = { port: server.port, path: "/", headers: {} };
      const one = { targets: [target], connections, body: () => "{}", good: (status: number) => status === 200 };
      await load({ ...one, seconds: 2 });
      return await load({ ...one, seconds });
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
