import type * as contract from "#lib/health/contract.ts";
import { probeService, type Finding } from "#lib/health/probes.ts";
import type { Handler } from "#lib/http/operation.ts";
import { Problem } from "#lib/problem.ts";

const notReady = (failing: readonly Finding[]): Problem =>
  new Problem("service_unavailable", {
    detail: `The service is not ready: ${failing.map(({ name }) => name).join(", ")}.`,
    retryAfterSeconds: 2,
  });

export const checkReadinessOfService: Handler<typeof contract.checkReadinessOfService> = async () => {
  const findings = await probeService();
  const failing = findings.filter(({ ready }) => !ready);
  if (failing.length > 0) throw notReady(failing);
  return { status: "ready", checks: findings.map(({ name }) => ({ name, status: "ready" as const })) };
};
