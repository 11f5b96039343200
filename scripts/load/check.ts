import assert from "node:assert/strict";
import postgres from "postgres";
import { verifyAudit } from "#lib/audit/contract.ts";
import { call } from "#lib/http/client.ts";
import type { BenchServer } from "../../bench/server.ts";
import { violations } from "../../test/faults/oracle.ts";
import type { Backend } from "./balancer.ts";
import type { Load } from "./load.ts";

export type Process = Backend & BenchServer;

export const READY = "/api/v1/health/ready";

/**
 * Checks that each process is ready, repeats answers byte for byte and verifies the audit log, and that no rule is broken in the
 * database. Returns a sentence about the repeats.
 */
export async function check(processes: readonly Process[], load: Load, databaseUrl: string): Promise<string> {
  const said: string[] = [];
  for (const process of processes) {
    const ready = await fetch(process.url + READY);
    assert.equal(ready.status, 200, `${process.version} is not ready: ${await ready.text()}`);
    const { repeated, refused } = await load.repeatAt(process);
    said.push(`${process.version} repeated ${repeated - refused} byte for byte${refused > 0 ? ` and refused ${refused}` : ""}`);
    const audit = await call(verifyAudit, { body: {} }, { baseUrl: process.url, headers: load.person });
    assert.equal(audit.valid, true, `The audit log does not verify at ${process.version}.`);
  }
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  const broken = await violations(sql, load.allowed);
  await sql.end();
  const wrong = [...load.wrong, ...broken];
  if (wrong.length > 0) {
    const logs = processes.map(({ version, said: log }) => `${version}: ${log()}`);
    throw new Error([`${wrong.length} violations, the first of which are:`, ...wrong.slice(0, 10), ...logs].join("\n"));
  }
  return `${said.join(", ")}.`;
}
