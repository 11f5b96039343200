import { methods, route } from "#lib/api/route.ts";
import { getExecutionReceipt } from "#lib/payments/receipts/get-execution-receipt.ts";
import * as contract from "#lib/payments/receipts/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.getExecutionReceipt, getExecutionReceipt));
