import { authorizePaymentTool } from "#lib/mcp/authorize-tool.ts";
import { cancel } from "#lib/mcp/cancel-tool.ts";
import { checkPurchase } from "#lib/mcp/check-purchase.ts";
import { executePaymentTool } from "#lib/mcp/execute-tool.ts";
import { fetchPaid } from "#lib/mcp/fetch-tool.ts";
import { getBudget } from "#lib/mcp/get-budget.ts";
import { getPaymentTool } from "#lib/mcp/get-payment-tool.ts";
import { placeOrderTool } from "#lib/mcp/place-order-tool.ts";
import type { Tool } from "#lib/mcp/tool.ts";

export const tools: readonly Tool[] = [
  getBudget,
  checkPurchase,
  fetchPaid,
  authorizePaymentTool,
  executePaymentTool,
  placeOrderTool,
  getPaymentTool,
  cancel,
];
