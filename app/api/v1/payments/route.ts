import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/payments/contract.ts";
import { listPayments } from "#lib/payments/list-payments.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.listPayments, listPayments));
