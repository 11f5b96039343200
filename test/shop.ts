import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { x402Facilitator } from "@x402/core/facilitator";
import { HTTPFacilitatorClient, type FacilitatorClient } from "@x402/core/server";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme as ExactEvmFacilitator } from "@x402/evm/exact/facilitator";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import express from "express";
import { createWalletClient, http, publicActions } from "viem";
import { createNonceManager, privateKeyToAccount, generatePrivateKey } from "viem/accounts";
import { baseSepolia } from "viem/chains";
import { jsonRpc } from "viem/nonce";
import type { LocalChain } from "../examples/chain.ts";
import { dispatch } from "#lib/routes.ts";
import { CHAIN } from "#test/mandates.ts";

/* Sellers made of stock parts that nobody here wrote. */

export type Listening = { readonly url: string; close(): Promise<void> };

export async function listen(server: Server): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

/** Our service behind a real socket, dispatched as the production server does it. */
export const listenService = (): Promise<Listening> =>
  listen(createAdaptorServer({ fetch: (request) => dispatch(request) }) as unknown as Server);

/** The stock facilitator with a key of its own. */
export async function stockFacilitator(chain: LocalChain): Promise<FacilitatorClient> {
  const account = privateKeyToAccount(generatePrivateKey(), { nonceManager: createNonceManager({ source: jsonRpc() }) });
  await chain.fund(account.address);
  const client = createWalletClient({ account, chain: baseSepolia, transport: http(chain.rpcUrl), pollingInterval: 50 }).extend(
    publicActions,
  );
  const signer = toFacilitatorEvmSigner({ ...client, address: account.address } as unknown as Parameters<
    typeof toFacilitatorEvmSigner
  >[0]);
  const facilitator = new x402Facilitator().register(CHAIN, new ExactEvmFacilitator(signer));
  return {
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: (payload, requirements) => facilitator.settle(payload, requirements),
    getSupported: () => Promise.resolve(facilitator.getSupported() as Awaited<ReturnType<FacilitatorClient["getSupported"]>>),
  };
}

/** Our facilitator as a stock server reaches it: a URL and a key. */
export const ourFacilitator = (service: Listening, apiKeyHeader: string): FacilitatorClient => {
  const headers = { Authorization: apiKeyHeader };
  const createAuthHeaders = () => Promise.resolve({ verify: headers, settle: headers, supported: headers });
  return new HTTPFacilitatorClient({ url: `${service.url}/api/x402`, createAuthHeaders });
};

type Shop = { readonly facilitator: FacilitatorClient; readonly payTo: string; readonly price?: string };

/** A stock @x402/express server with one paid path. Counts how often it served. */
export async function openShop({ facilitator, payTo, price = "$0.25" }: Shop): Promise<Listening & { served(): number }> {
  let served = 0;
  const app = express();
  const resources = new x402ResourceServer(facilitator).register(CHAIN, new ExactEvmScheme());
  app.use(
    paymentMiddleware(
      { "GET /report": { accepts: { scheme: "exact", price, network: CHAIN, payTo }, description: "A report" } },
      resources,
    ),
  );
  app.get("/report", (_request, response) => {
    served += 1;
    response.json({ report: "all is well" });
  });
  const listening = await listen(createServer({ maxHeaderSize: 65_536 }, app));
  return { ...listening, served: () => served };
}
