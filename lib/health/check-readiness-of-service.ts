import type * as contract from "#lib/health/contract.ts";
import { isStopping } from "#lib/health/lifecycle.ts";
import { probeService, type Finding } from "#lib/health/probes.ts";
import type { Handler } from "#lib/http/operation.ts";
import { Problem } from "#lib/problem.ts";

const notReady = (failing: readonly Finding[]): Problem =>
  new Problem("service_unavailable", {
    detail: `The service is not ready: ${failing.map(({ name }) => name).join(", ")}.`,
    retryAfterSeconds: 2,
  });

const stopping = (): Problem =>
  new Problem("service_unavailable", { detail: "This process is stopping. Send requests to another one.", retryAfterSeconds: 2 });

/** @throws Problem service_unavailable while the process is stopping, or if a finding is bad */
export async function readiness(isBad: (finding: Finding) => boolean): Promise<contract.Readiness> {
  if (isStopping()) throw stopping();
  const findings = await probeService();
  const bad = findings.filter(isBad);
  if (bad.length > 0) throw notReady(bad);
  return {
    status: "ready",
    checks: findings.map(({ name, status }) => ({ name, status: status === "degraded" ? status : "ready" })),
  };
}

export const checkReadinessOfService: Handler<typeof contract.checkReadinessOfService> = () =>
  readiness(({ status }) => status === "failing");
