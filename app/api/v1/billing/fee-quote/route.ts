import { methods, route } from "#lib/http/route.ts";
import * as contract from "#lib/billing/contract.ts";
import { quoteFee } from "#lib/billing/quote-fee.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.quoteFee, quoteFee));
