import { methods, route } from "#lib/api/route.ts";
import { getExecutionReceipt } from "#lib/payments/get-execution-receipt.ts";
import * as contract from "#lib/payments/receipt-contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.getExecutionReceipt, getExecutionReceipt));
