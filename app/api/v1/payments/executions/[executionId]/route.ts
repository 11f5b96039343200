import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/payments/contract.ts";
import { getExecution } from "#lib/payments/executions/get-execution.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.getExecution, getExecution));
