import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { HTTPFacilitatorClient, type FacilitatorClient } from "@x402/core/server";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import type { LocalChain } from "../../examples/chain.ts";
import { stockFacilitator as makeFacilitator } from "../../examples/seller.ts";
import { dispatch } from "#lib/server/entry.ts";

/* The service on a network port, and facilitators for the servers of sellers. */

export type ListeningServer = { readonly url: string; close(): Promise<void> };

export async function listen(server: Server): Promise<ListeningServer> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

/** The service on a network port, with the dispatch of the production server. */
export const listenService = (): Promise<ListeningServer> =>
  listen(createAdaptorServer({ fetch: (request) => dispatch(request) }) as unknown as Server);

/** The facilitator of the x402 library, with its own key that has ether for gas. */
export async function stockFacilitator(chain: LocalChain): Promise<FacilitatorClient> {
  const privateKey = generatePrivateKey();
  await chain.fund(privateKeyToAddress(privateKey));
  return makeFacilitator({ rpcUrl: chain.rpcUrl, privateKey });
}

/** This service's facilitator as a seller's server uses it: with a URL and a key. */
export const ourFacilitator = (service: ListeningServer, apiKeyHeader: string): FacilitatorClient => {
  const headers = { Authorization: apiKeyHeader };
  const createAuthHeaders = () => Promise.resolve({ verify: headers, settle: headers, supported: headers });
  return new HTTPFacilitatorClient({ url: `${service.url}/api/x402`, createAuthHeaders });
};
