import { checkReadinessOfService } from "#lib/health/check-readiness-of-service.ts";
import * as contract from "#lib/health/contract.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.checkReadinessOfService, checkReadinessOfService),
);
