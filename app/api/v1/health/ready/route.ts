import { methods, route } from "#lib/api/route.ts";
import { checkReadinessOfService } from "#lib/health/check-readiness-of-service.ts";
import * as contract from "#lib/health/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.checkReadinessOfService, checkReadinessOfService),
);
