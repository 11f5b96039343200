import { readiness } from "#lib/health/check-readiness-of-service.ts";
import type * as contract from "#lib/health/contract.ts";
import { pagesUp } from "#lib/health/lifecycle.ts";
import type { Handler } from "#lib/http/operation.ts";
import type { Finding } from "#lib/health/probes.ts";
import { Problem } from "#lib/problem.ts";

/** While nothing can be committed, the connections of this process may all wait for that, and pages still show what is there. */
function badForPages(findings: readonly Finding[]): readonly Finding[] {
  const reads = new Set<Finding["name"]>(["migrations", "pages"]);
  const bad = findings.filter(({ name, status }) => status === "failing" || (name === "pages" && status === "degraded"));
  return bad.some(({ name }) => name === "commits") ? bad.filter(({ name }) => reads.has(name)) : bad;
}

export const checkReadinessOfPages: Handler<typeof contract.checkReadinessOfPages> = () => {
  if (pagesUp() === null)
    throw new Problem("service_unavailable", {
      detail: "This process serves no pages. Send people to another one.",
      retryAfterSeconds: 60,
    });
  return readiness(badForPages);
};
