import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/mandates/contract.ts";
import { listMandateLedger } from "#lib/mandates/list-mandate-ledger.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.listMandateLedger, listMandateLedger));
