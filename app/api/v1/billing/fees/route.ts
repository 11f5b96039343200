import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/billing/contract.ts";
import { listFees } from "#lib/billing/list-fees.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.listFees, listFees));
