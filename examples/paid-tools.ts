import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { createMcpHandler, McpServer, type CallToolResult } from "@modelcontextprotocol/server";
import { x402ResourceServer, type FacilitatorClient } from "@x402/core/server";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/server";

const network = "eip155:84532";
const resource = { url: "mcp://tool/report" };

export type PaidTools = { readonly url: string; close(): Promise<void> };

/**
 * Starts an MCP server made with the standard x402 library, which knows nothing of Countersign. Its tool `report` costs 0.25
 * dollars unless `price` is set, paid by x402's transport for MCP.
 */
export async function startPaidTools(facilitator: FacilitatorClient, payTo: string, price = "$0.25"): Promise<PaidTools> {
  const seller = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme());
  await seller.initialize();
  const offers = await seller.buildPaymentRequirements({ scheme: "exact", price, network, payTo });
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "paid-tools", version: "1" });
    server.registerTool("report", { description: "A report for 0.25 dollars" }, ({ mcpReq }) =>
      sell(seller, offers, mcpReq._meta?.["x402/payment"] as PaymentPayload | undefined),
    );
    return server;
  });
  const server = createAdaptorServer({ fetch: (request) => handler.fetch(request) }) as unknown as Server;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Returns the tool's result if it was paid for, or else the terms of the payment. */
async function sell(
  seller: x402ResourceServer,
  offers: PaymentRequirements[],
  payment: PaymentPayload | undefined,
): Promise<CallToolResult> {
  const refuse = async (why: string): Promise<CallToolResult> => {
    const required = await seller.createPaymentRequiredResponse(offers, resource, why);
    return {
      isError: true,
      structuredContent: { ...required },
      content: [{ type: "text", text: JSON.stringify(required) }],
    };
  };
  const offer = payment && seller.findMatchingRequirements(offers, payment);
  if (!payment || !offer) return refuse("Payment required");
  const verdict = await seller.verifyPayment(payment, offer);
  if (!verdict.isValid) return refuse(verdict.invalidReason ?? "The payment is not valid.");
  const settled = await seller.settlePayment(payment, offer);
  if (!settled.success) return refuse(settled.errorReason ?? "The payment was not settled.");
  return { content: [{ type: "text", text: "all is well" }], _meta: { "x402/payment-response": { ...settled } } };
}
