import { authorizePaymentTool } from "#lib/mcp/tools/authorize-tool.ts";
import { cancel } from "#lib/mcp/tools/cancel-tool.ts";
import { checkPurchase } from "#lib/mcp/purchase/check-purchase.ts";
import { executePaymentTool } from "#lib/mcp/tools/execute-tool.ts";
import { fetchPaid } from "#lib/mcp/tools/fetch-tool.ts";
import { getBudget } from "#lib/mcp/tools/get-budget.ts";
import { getPaymentTool } from "#lib/mcp/tools/get-payment-tool.ts";
import { placeOrderTool } from "#lib/mcp/tools/place-order-tool.ts";
import { recordPaymentTool } from "#lib/mcp/tools/record-tool.ts";
import type { Tool } from "#lib/mcp/tools/tool.ts";

export const tools: readonly Tool[] = [
  getBudget,
  checkPurchase,
  fetchPaid,
  authorizePaymentTool,
  executePaymentTool,
  recordPaymentTool,
  placeOrderTool,
  getPaymentTool,
  cancel,
];
