import { createServer } from "node:http";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import express, { type Handler } from "express";
import type { routesOf } from "#lib/pages/seller/snippets.ts";
import { localChainId } from "../../examples/chain.ts";

export type Shop = {
  /** The host and port. The seller registers them as its domain. */
  readonly domain: string;
  readonly url: string;
  /** Makes this line the content of the file that proves the domain. */
  publish(line: string): void;
  /** Sells these routes from now on. The service settles the payments, and the shop calls it with this API key. */
  sell(routes: ReturnType<typeof routesOf>, apiKey: string): void;
  close(): Promise<void>;
};

/** A seller with the standard @x402/express server, at the address of this machine that the service may call. */
export async function openShop(): Promise<Shop> {
  const port = Number(process.env["SHOP_PORT"]);
  const app = express();
  let published = "";
  let paid: Handler = (_request, _response, next) => next();
  app.get("/.well-known/countersign.txt", (_request, response) => void response.end(published));
  app.use((request, response, next) => paid(request, response, next));
  app.get("/{*path}", (_request, response) => response.json({ report: "all is well" }));
  const server = createServer(app);
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  return {
    domain: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    publish: (line) => {
      published = line;
    },
    sell: (routes, apiKey) => {
      const headers = { Authorization: `Bearer ${apiKey}` };
      const facilitator = new HTTPFacilitatorClient({
        url: `${process.env["BASE_URL"]}/api/x402`,
        createAuthHeaders: () => Promise.resolve({ verify: headers, settle: headers, supported: headers }),
      });
      paid = paymentMiddleware(routes, new x402ResourceServer(facilitator).register(localChainId, new ExactEvmScheme()));
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
