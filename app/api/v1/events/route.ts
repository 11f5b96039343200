import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/audit/contract.ts";
import { listEvents } from "#lib/audit/list-events.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.listEvents, listEvents));
