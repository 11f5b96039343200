import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/payments/contract.ts";
import { getPayment } from "#lib/payments/get-payment.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.getPayment, getPayment));
