import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/settlement/contract.ts";
import { listSettlements } from "#lib/settlement/list-settlements.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.listSettlements, listSettlements));
