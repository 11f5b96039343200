import { x402Facilitator } from "@x402/core/facilitator";
import {
  x402HTTPResourceServer,
  x402ResourceServer,
  type FacilitatorClient,
  type HTTPAdapter,
  type HTTPRequestContext,
  type HTTPResponseInstructions,
  type RoutesConfig,
} from "@x402/core/server";
import type { Network } from "@x402/core/types";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme as ExactEvmFacilitator } from "@x402/evm/exact/facilitator";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { createWalletClient, custom, publicActions } from "viem";
import { getAddress } from "viem/utils";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import { POLLING_MS, publicClient } from "#lib/chains/client.ts";
import { parseAmount } from "#lib/money.ts";
import { forget, perProcess } from "#lib/process.ts";
import { samples } from "#lib/sandbox/samples.ts";
import { samplePayTo, testWallet } from "#lib/sandbox/test-wallet.ts";

/* A seller made with the standard x402 library; it checks no authorization of this service. */

function facilitatorFor({ chain }: AssetOnChain): FacilitatorClient {
  const network = chain as Network;
  const node = publicClient(chain);
  const account = testWallet();
  const client = createWalletClient({
    account,
    chain: node.chain,
    transport: custom({ request: ({ method, params }) => node.request({ method, params } as never) }, { retryCount: 0 }),
    pollingInterval: POLLING_MS,
  }).extend(publicActions);
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

const routesFor = ({ chain, tokenAddress, tokenName, tokenVersion, tokenDecimals }: AssetOnChain): RoutesConfig =>
  Object.fromEntries(
    samples.map(({ path, url, title, amount }) => [
      `GET ${path}`,
      {
        accepts: {
          scheme: "exact",
          network: chain as Network,
          payTo: getAddress(samplePayTo()),
          maxTimeoutSeconds: 300,
          price: {
            asset: getAddress(tokenAddress),
            amount: parseAmount(amount, tokenDecimals).toString(),
            extra: { name: tokenName, version: tokenVersion },
          },
        },
        resource: url,
        description: title,
        mimeType: "application/json",
      },
    ]),
  );

async function open(asset: AssetOnChain): Promise<x402HTTPResourceServer> {
  const resources = new x402ResourceServer(facilitatorFor(asset)).register(asset.chain as Network, new ExactEvmScheme());
  const server = new x402HTTPResourceServer(resources, routesFor(asset));
  await server.initialize();
  return server;
}

const serverFor = (asset: AssetOnChain): Promise<x402HTTPResourceServer> =>
  perProcess("sandbox/sample-seller", () =>
    open(asset).catch((error: unknown) => {
      forget("sandbox/sample-seller");
      throw error;
    }),
  );

function contextOf(request: Request): HTTPRequestContext {
  const { pathname } = new URL(request.url);
  const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
  const adapter: HTTPAdapter = {
    getHeader: header,
    getMethod: () => request.method,
    getPath: () => pathname,
    getUrl: () => request.url,
    // The seller always answers with JSON, because it has no payment page for people.
    getAcceptHeader: () => "application/json",
    getUserAgent: () => "",
  };
  const paymentHeader = header("payment-signature") ?? header("x-payment");
  return { adapter, path: pathname, method: request.method, ...(paymentHeader !== undefined && { paymentHeader }) };
}

const written = ({ status, headers, body }: HTTPResponseInstructions): Response => Response.json(body ?? {}, { status, headers });

/** Returns the bought product only after its payment is settled. */
export async function serveSample(asset: AssetOnChain, request: Request): Promise<Response> {
  const context = contextOf(request);
  const server = await serverFor(asset);
  const result = await server.processHTTPRequest(context);
  if (result.type === "payment-error") return written(result.response);
  if (result.type === "no-payment-required") return Response.json({}, { status: 404 });
  const { paymentPayload, paymentRequirements, declaredExtensions } = result;
  const settled = await server.processSettlement(paymentPayload, paymentRequirements, declaredExtensions, { request: context });
  if (!settled.success) return written(settled.response);
  const bought = samples.find(({ path }) => path === context.path);
  return Response.json(
    { bought: bought?.title, ...(bought?.id === "forecast" && { forecast: "Sunny, 21 °C" }) },
    { headers: settled.headers },
  );
}
