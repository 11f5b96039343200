import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/payments/contract.ts";
import { executePayment } from "#lib/execute/execute-payment.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.executePayment, executePayment));
