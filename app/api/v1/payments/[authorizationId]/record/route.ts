import { methods, route } from "#lib/api/route.ts";
import { recordPayment } from "#lib/payments/executions/record-payment.ts";
import * as contract from "#lib/payments/executions/record-contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.recordPayment, recordPayment));
