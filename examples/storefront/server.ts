import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { FacilitatorClient, HTTPRequestContext, HTTPTransportContext, SettleContext } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import express, { json, type Request, type Response } from "express";
import { localChainId, usdcAddress } from "../chain.ts";
import { search } from "./catalog.ts";
import { atomicOf, quoteBook, type Quote } from "./quotes.ts";

/** A signed payment of 32 KiB does not fit into the headers that Node accepts by default. */
const HEADERS_MAX = 65_536;
const TOKEN = { name: "USDC", version: "2", decimals: 6 };

export type StorefrontOptions = {
  readonly facilitator: FacilitatorClient;
  readonly payTo: string;
  readonly port?: number;
  /** The id of the shop as a registered seller. The service accepts it only if the domain is that of the seller. */
  readonly sellerId?: string;
  /** The id of the resource under which the shop's checkout is registered. */
  readonly resourceId?: string;
};

export type Order = {
  readonly id: string;
  readonly status: "confirmed";
  readonly quoteId: string;
  readonly amount: string;
  readonly permalinkUrl: string;
  readonly fulfillment: { readonly method: "digital"; readonly status: "pending" };
};

export type Storefront = {
  readonly url: string;
  /** The host and port: "127.0.0.1:4000". */
  readonly domain: string;
  orders(): readonly Order[];
  close(): Promise<void>;
};

const manifest = (url: string, { payTo, sellerId, resourceId }: StorefrontOptions) => ({
  version: "2026-11-01",
  name: "Example Goods",
  ...(sellerId !== undefined && { sellerId }),
  ...(resourceId !== undefined && { resourceId }),
  seller: { name: "Example Goods", domain: new URL(url).host },
  catalogUrl: `${url}/agent/catalog`,
  quoteUrl: `${url}/agent/quotes`,
  checkoutUrl: `${url}/agent/checkout`,
  supportedPaymentChallengeTypes: ["x402"],
  chain: localChainId,
  asset: "USDC",
  paymentScope: {
    paymentMode: "eip3009",
    payTo,
    tokenAddress: usdcAddress,
    tokenName: TOKEN.name,
    tokenVersion: TOKEN.version,
    tokenDecimals: TOKEN.decimals,
  },
  environment: "sandbox",
  agentInstructions: "Ask for a quote, then pay the 402 at checkoutUrl.",
});

const bodyOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const quoteIdOf = (body: unknown): string => String(bodyOf(body)["quoteId"]);

/** The quote has expired or is sold, so its payment is refused. */
const quoteEnded = { messages: [{ code: "quote_expired" }] };

/** A sale whose payment is being settled. `waiting` runs when the settlement has ended. */
type Sale = { readonly order: Order; readonly waiting: (() => void)[] };

/** The orders of a shop. A quote is sold once: while one payment of it is settled, another payment of it is refused. */
function orderBook(url: string) {
  const orders = new Map<string, Order>();
  const sales = new Map<string, Sale>();
  return {
    orders,
    /** Runs the work when no payment of the quote is being settled. */
    whenSettled(quoteId: string, work: () => void): void {
      const sale = sales.get(quoteId);
      if (sale) sale.waiting.push(work);
      else work();
    },
    /** Begins the sale. Null if the quote is sold, or another payment of it is being settled. */
    place({ quoteId, amount }: Quote): Order | null {
      if (orders.has(quoteId) || sales.has(quoteId)) return null;
      const id = `order_${randomUUID().slice(0, 8)}`;
      const fulfillment = { method: "digital", status: "pending" } as const;
      const order: Order = { id, status: "confirmed", quoteId, amount, permalinkUrl: `${url}/orders/${id}`, fulfillment };
      sales.set(quoteId, { order, waiting: [] });
      return order;
    },
    /** Ends the sale. Stores the order if the payment was settled, also if the buyer has hung up. */
    end(quoteId: string, isPaid: boolean): void {
      const sale = sales.get(quoteId);
      if (!sale) return;
      if (isPaid) orders.set(quoteId, sale.order);
      sales.delete(quoteId);
      for (const work of sale.waiting) work();
    },
  };
}
type OrderBook = ReturnType<typeof orderBook>;

const quoteOf = ({ transportContext }: SettleContext): string =>
  quoteIdOf((transportContext as HTTPTransportContext).request.adapter.getBody?.());

/** Takes payments through the facilitator, and ends each sale with its settlement. */
const takePayments = (facilitator: FacilitatorClient, { end }: OrderBook) =>
  new x402ResourceServer(facilitator)
    .register(localChainId, new ExactEvmScheme())
    .onAfterSettle(async (context) => end(quoteOf(context), true))
    .onSettleFailure(async (context) => end(quoteOf(context), false));

/** Runs before the payment check. Repeats the answer if the quote's order is paid, and otherwise requires a valid quote. */
const requireQuote =
  (quotes: ReturnType<typeof quoteBook>, { orders, whenSettled }: OrderBook) =>
  (request: Request, response: Response, next: () => void): void => {
    const quoteId = quoteIdOf(request.body);
    whenSettled(quoteId, () => {
      const order = orders.get(quoteId);
      if (order) response.json({ order });
      else if (quotes.find(quoteId)) next();
      else response.status(409).json(quoteEnded);
    });
  };

/**
 * An example shop for agents, made with the standard x402 library and without code of Countersign: a manifest, a catalog, quotes,
 * and a checkout that answers 402 until it is paid.
 */
export async function startStorefront(options: StorefrontOptions): Promise<Storefront> {
  const { facilitator, payTo, port = 0 } = options;
  const quotes = quoteBook();
  const app = express();
  const server = createServer({ maxHeaderSize: HEADERS_MAX }, app);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const domain = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${domain}`;
  const book = orderBook(url);
  const { orders, place } = book;

  const priceOf = ({ adapter }: HTTPRequestContext) => {
    const quote = quotes.find(quoteIdOf(adapter.getBody?.()));
    if (!quote) throw new Error("The checkout was reached without a quote.");
    const { name, version } = TOKEN;
    return { asset: usdcAddress, amount: atomicOf(quote.amount).toString(), extra: { name, version } };
  };
  const accepts = { scheme: "exact", network: localChainId, payTo, price: priceOf, maxTimeoutSeconds: 300 } as const;
  const resources = takePayments(facilitator, book);

  app.get("/.well-known/agent-storefront.json", (_, response) => response.json(manifest(url, options)));
  app.get("/agent/catalog", (request, response) => {
    const { searchParams } = new URL(request.url ?? "/", url);
    response.json({ items: search(searchParams.get("q") ?? "").map((variant) => ({ ...variant, asset: "USDC" })) });
  });
  app.use(json({ limit: "64kb" }));
  app.post("/agent/quotes", (request, response) => {
    const quote = quotes.make(bodyOf(request.body)["items"]);
    if ("status" in quote) response.status(quote.status).json(quote.body);
    else response.json(quote);
  });
  app.post("/agent/checkout", requireQuote(quotes, book));
  app.use(paymentMiddleware({ "POST /agent/checkout": { accepts, description: "An order of Example Goods" } }, resources));
  app.post("/agent/checkout", (request, response) => {
    const quote = quotes.find(quoteIdOf(request.body));
    // The x402 middleware settles a payment only if this answer is no error, and holds the answer back until then.
    const order = quote && place(quote);
    if (order) response.json({ order });
    else response.status(409).json(quoteEnded);
  });
  app.get("/orders/:orderId", (request, response) => {
    const order = [...orders.values()].find(({ id }) => request.url === `/orders/${id}`);
    if (order) response.json({ order });
    else response.status(404).json({});
  });

  return {
    url,
    domain,
    orders: () => [...orders.values()],
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
