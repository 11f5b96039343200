import { methods, route } from "#lib/api/route.ts";
import { allowPaymentOnce } from "#lib/payments/refusals/allow-payment-once.ts";
import * as contract from "#lib/payments/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.allowPaymentOnce, allowPaymentOnce));
