/** The facilitator of the x402 library behind HTTP, in its own process. This service's facilitator is compared with it. */
import { createServer, type IncomingMessage } from "node:http";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { stockFacilitator } from "../examples/seller.ts";

const facilitator = stockFacilitator({
  rpcUrl: process.env["RPC_URL"] ?? "",
  privateKey: (process.env["PRIVATE_KEY"] ?? "") as `0x${string}`,
});

async function read(request: IncomingMessage): Promise<{ payload: PaymentPayload; requirements: PaymentRequirements }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { paymentPayload, paymentRequirements } = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, never>;
  return { payload: paymentPayload!, requirements: paymentRequirements! };
}

async function answer(request: IncomingMessage): Promise<unknown> {
  if (request.url !== "/verify" && request.url !== "/settle") return {};
  const { payload, requirements } = await read(request);
  return request.url === "/verify" ? facilitator.verify(payload, requirements) : facilitator.settle(payload, requirements);
}

createServer((request, response) => {
  answer(request).then(
    (body) => response.setHeader("content-type", "application/json").end(JSON.stringify(body)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
}).listen(Number(process.env["PORT"]));
