import type * as contract from "#lib/health/contract.ts";
import { isStopping } from "#lib/health/lifecycle.ts";
import { probeService, type Finding } from "#lib/health/probes.ts";
import type { Handler } from "#lib/http/operation.ts";
import { Problem } from "#lib/problem.ts";

/** What still works while nothing can be committed. */
function working(findings: readonly Finding[]): string {
  const isReady = (...names: Finding["name"][]) =>
    names.every((one) => findings.some(({ name, status }) => name === one && status === "ready"));
  const works = [isReady("database", "migrations") && "reads", isReady("pages", "migrations") && "pages"].filter(Boolean);
  return works.length > 0 ? ` Still working: ${works.join(", ")}.` : "";
}

function notReady(bad: readonly Finding[], all: readonly Finding[]): Problem {
  const because = bad.find((finding) => finding.because)?.because;
  const unsaved = !because ? "" : ` Nothing can be saved, because ${because}.${working(all)}`;
  return new Problem("service_unavailable", {
    detail: `The service is not ready: ${bad.map(({ name }) => name).join(", ")}.${unsaved}`,
    retryAfterSeconds: 2,
  });
}

const stopping = (): Problem =>
  new Problem("service_unavailable", { detail: "This process is stopping. Send requests to another one.", retryAfterSeconds: 2 });

/** @throws Problem service_unavailable while the process is stopping, or if `badAmong` returns a finding */
export async function readiness(badAmong: (findings: readonly Finding[]) => readonly Finding[]): Promise<contract.Readiness> {
  if (isStopping()) throw stopping();
  const findings = await probeService();
  const bad = badAmong(findings);
  if (bad.length > 0) throw notReady(bad, findings);
  return {
    status: "ready",
    checks: findings.map(({ name, status }) => ({ name, status: status === "ready" ? status : "degraded" })),
  };
}

export const checkReadinessOfService: Handler<typeof contract.checkReadinessOfService> = () =>
  readiness((findings) => findings.filter(({ status }) => status === "failing"));
