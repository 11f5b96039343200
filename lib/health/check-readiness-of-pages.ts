import { readiness } from "#lib/health/check-readiness-of-service.ts";
import type * as contract from "#lib/health/contract.ts";
import { pagesUp } from "#lib/health/pages.ts";
import type { Handler } from "#lib/http/operation.ts";
import { Problem } from "#lib/problem.ts";

export const checkReadinessOfPages: Handler<typeof contract.checkReadinessOfPages> = () => {
  if (pagesUp() === null)
    throw new Problem("service_unavailable", {
      detail: "This process serves no pages. Send people to another one.",
      retryAfterSeconds: 60,
    });
  return readiness(({ name, status }) => status === "failing" || (name === "pages" && status === "degraded"));
};
