import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { x402Facilitator } from "@x402/core/facilitator";
import type { FacilitatorClient } from "@x402/core/server";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme as ExactEvmFacilitator } from "@x402/evm/exact/facilitator";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import express from "express";
import { createWalletClient, http, publicActions, type Hex } from "viem";
import { createNonceManager, privateKeyToAccount } from "viem/accounts";
import { baseSepolia } from "viem/chains";
import { jsonRpc } from "viem/nonce";

const network = "eip155:84532";

/** A signed payment of 32 KiB does not fit into the headers that Node accepts by default. */
const HEADERS_MAX = 65_536;

type Settler = { readonly rpcUrl: string; readonly privateKey: Hex };

/** The facilitator of the x402 library, with a key that pays for gas. It uses no code of Countersign. */
export function stockFacilitator({ rpcUrl, privateKey }: Settler): FacilitatorClient {
  const account = privateKeyToAccount(privateKey, { nonceManager: createNonceManager({ source: jsonRpc() }) });
  const client = createWalletClient({ account, chain: baseSepolia, transport: http(rpcUrl), pollingInterval: 100 }).extend(
    publicActions,
  );
  const signer = toFacilitatorEvmSigner({ ...client, address: account.address } as unknown as Parameters<
    typeof toFacilitatorEvmSigner
  >[0]);
  const facilitator = new x402Facilitator().register(network, new ExactEvmFacilitator(signer));
  return {
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: (payload, requirements) => facilitator.settle(payload, requirements),
    getSupported: () => Promise.resolve(facilitator.getSupported() as Awaited<ReturnType<FacilitatorClient["getSupported"]>>),
  };
}

export type SellerOptions = {
  readonly facilitator: FacilitatorClient;
  readonly payTo: string;
  /** The price of each path in dollars, as the x402 library expects it. */
  readonly prices?: Readonly<Record<string, string>>;
  readonly port?: number;
};

export type Seller = { readonly url: string; served(): number; close(): Promise<void> };

/**
 * A seller with the standard @x402/express server, which knows nothing of Countersign. By default it sells one path: GET /report.
 */
export async function startSeller({
  facilitator,
  payTo,
  prices = { "/report": "$0.25" },
  port = 0,
}: SellerOptions): Promise<Seller> {
  let served = 0;
  const app = express();
  const resources = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme());
  const accepts = (price: string) => ({ scheme: "exact", price, network, payTo }) as const;
  const routes = Object.entries(prices).map(([path, price]) => [`GET ${path}`, { accepts: accepts(price) }] as const);
  app.use(paymentMiddleware(Object.fromEntries(routes), resources));
  for (const path of Object.keys(prices)) {
    app.get(path, (_request, response) => {
      served += 1;
      response.json({ report: "all is well" });
    });
  }
  const server = createServer({ maxHeaderSize: HEADERS_MAX }, app);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    served: () => served,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
