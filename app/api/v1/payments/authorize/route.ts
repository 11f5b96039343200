import { methods, route } from "#lib/api/route.ts";
import { authorizePayment } from "#lib/payments/authorize-payment.ts";
import * as contract from "#lib/payments/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.authorizePayment, authorizePayment));
