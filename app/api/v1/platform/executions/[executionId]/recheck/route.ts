import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/settlement/contract.ts";
import { recheckExecution } from "#lib/settlement/recheck-execution.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.recheckExecution, recheckExecution));
