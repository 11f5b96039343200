import { methods, route } from "#lib/api/route.ts";
import { checkReadinessOfPages } from "#lib/health/check-readiness-of-pages.ts";
import * as contract from "#lib/health/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.checkReadinessOfPages, checkReadinessOfPages),
);
