import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/billing/contract.ts";
import { quoteFee } from "#lib/billing/quote-fee.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.quoteFee, quoteFee));
