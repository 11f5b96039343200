/** This file must work in a browser: forms show the code while people type. */
import { readAmount } from "#lib/money.ts";
import type { PaidResource } from "#lib/sellers/resource-schema.ts";
import type { ResourceSettlementMode } from "#lib/vocabulary.ts";

export type Coin = {
  readonly chain: string;
  readonly asset: string;
  readonly tokenAddress: string;
  readonly tokenName: string;
  readonly tokenVersion: string;
  readonly tokenDecimals: number;
};

export type ResourceOffer = Pick<PaidResource, "resourceId" | "method" | "pathTemplate" | "description" | "pricing"> & {
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly settlementMode: ResourceSettlementMode;
};

/** In the token's atomic units; null if the price is not fixed or not a valid amount yet. */
export function atomicPrice({ pricing }: Pick<ResourceOffer, "pricing">, { tokenDecimals }: Coin): string | null {
  if (pricing.type !== "fixed") return null;
  const read = readAmount(pricing.amount, tokenDecimals);
  return read.ok ? read.amount.toString() : null;
}

const QUOTED = "what this order costs, in the token's smallest unit";

export const challengeText = (offered: ResourceOffer, coin: Coin, domain: string): string =>
  JSON.stringify(
    {
      x402Version: 2,
      resource: { url: `https://${domain}${offered.pathTemplate}` },
      accepts: [
        {
          scheme: "exact",
          network: coin.chain,
          amount: atomicPrice(offered, coin) ?? QUOTED,
          asset: coin.tokenAddress,
          payTo: offered.payTo,
          maxTimeoutSeconds: offered.maxTimeoutSeconds,
          extra: { name: coin.tokenName, version: coin.tokenVersion },
        },
      ],
    },
    null,
    2,
  );

/** The standard x402 servers use :name instead of {name} in their paths. */
export const routesOf = (offered: ResourceOffer, coin: Coin) => ({
  [`${offered.method} ${offered.pathTemplate.replace(/\{([^}]+)\}/g, ":$1")}`]: {
    accepts: {
      scheme: "exact" as const,
      network: coin.chain as `${string}:${string}`,
      payTo: offered.payTo,
      maxTimeoutSeconds: offered.maxTimeoutSeconds,
      price: {
        amount: atomicPrice(offered, coin) ?? QUOTED,
        asset: coin.tokenAddress,
        extra: { name: coin.tokenName, version: coin.tokenVersion },
      },
    },
    ...(offered.description !== undefined && offered.description !== "" && { description: offered.description }),
  },
});

/** Writes keys of letters without quotes, as JavaScript allows. */
const literal = (value: unknown): string => JSON.stringify(value, null, 2).replace(/^( *)"([A-Za-z]+)":/gm, "$1$2:");

const ownFacilitator = (
  origin: string,
): string => `const headers = { Authorization: \`Bearer \${process.env.COUNTERSIGN_API_KEY}\` };
const facilitator = new HTTPFacilitatorClient({
  url: "${origin}/api/x402",
  createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
});`;

const ANY_FACILITATOR = "const facilitator = new HTTPFacilitatorClient({ url: process.env.FACILITATOR_URL });";

const server = (chain: string, origin: string, settlementMode: ResourceSettlementMode): string =>
  `${settlementMode === "facilitatorSettled" ? ownFacilitator(origin) : ANY_FACILITATOR}
const server = new x402ResourceServer(facilitator).register("${chain}", new ExactEvmScheme());`;

const imports = (from: string): string => `import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
${from}`;

export type Snippet = { readonly name: string; readonly label: string; readonly text: string };

export function snippets(
  offered: ResourceOffer,
  coin: Coin,
  { origin, sellerId }: { readonly origin: string; readonly sellerId: string },
): Snippet[] {
  const routes = `const routes = ${literal(routesOf(offered, coin))};`;
  const middleware = (name: string) => `import { paymentMiddleware, x402ResourceServer } from "@x402/${name}";`;
  const { resourceId, payTo, maxTimeoutSeconds, settlementMode, ...terms } = offered;
  const stack = server(coin.chain, origin, settlementMode);
  const saved = {
    sellerId,
    ...terms,
    acceptedPaymentChallengeTypes: ["x402"],
    paymentConfig: { chain: coin.chain, payTo, maxTimeoutSeconds, settlementMode },
  };
  return [
    {
      name: "Express",
      label: "With @x402/express",
      text: `${imports(middleware("express"))}
import express from "express";

${stack}
${routes}

const app = express();
app.use(paymentMiddleware(routes, server));
`,
    },
    {
      name: "Hono",
      label: "With @x402/hono",
      text: `${imports(middleware("hono"))}
import { Hono } from "hono";

${stack}
${routes}

const app = new Hono();
app.use(paymentMiddleware(routes, server));
`,
    },
    {
      name: "Next.js",
      label: "With @x402/next, in proxy.ts",
      text: `${imports('import { paymentProxy, x402ResourceServer } from "@x402/next";')}

${stack}
${routes}

export const proxy = paymentProxy(routes, server);
`,
    },
    {
      name: "curl",
      label: "Save this resource from your own code",
      text: `curl -X PUT ${origin}/api/v1/seller/resources/${resourceId} \\
  -H "Authorization: Bearer $COUNTERSIGN_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(saved, null, 2).replaceAll("'", "'\\''")}'
`,
    },
  ];
}

/** Turns "/reports/{date}" into "reports-date". */
export const idOfPath = (pathTemplate: string): string =>
  pathTemplate
    .replace(/[{}]/g, "")
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 128) || "root";
