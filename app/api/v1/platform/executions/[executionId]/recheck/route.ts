import { methods, route } from "#lib/api/route.ts";
import { recheckExecution as operation } from "#lib/platform/audit-contract.ts";
import { recheckExecution } from "#lib/platform/recheck-execution.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, recheckExecution));
