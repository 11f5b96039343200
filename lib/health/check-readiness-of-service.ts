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

export const checkReadinessOfService: Handler<typeof contract.checkReadinessOfService> = async () => {
  if (isStopping()) throw stopping();
  const findings = await probeService();
  const failing = findings.filter(({ status }) => status === "failing");
  if (failing.length > 0) throw notReady(failing);
  return {
    status: "ready",
    checks: findings.map(({ name, status }) => ({ name, status: status === "degraded" ? status : "ready" })),
  };
};
