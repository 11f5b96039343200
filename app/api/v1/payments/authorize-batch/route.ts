import { methods, route } from "#lib/api/route.ts";
import { authorizePayments } from "#lib/payments/authorize-payments.ts";
import * as contract from "#lib/payments/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.authorizePayments, authorizePayments));
