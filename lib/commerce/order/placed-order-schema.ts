/** Imports no server code, so that a browser can load it. */
import { z } from "zod";
import { itemFields } from "#lib/approvals/checkout-schema.ts";
import { Authorization, PaymentIntent } from "#lib/payment-intent.ts";
import { Timestamp } from "#lib/time.ts";
import { OrderActionType, OrderStatus } from "#lib/vocabulary.ts";

const FreeForm = z.record(z.string(), z.unknown());

export const PaymentScope = z
  .object({
    paymentMode: z.string(),
    payTo: z.string(),
    tokenAddress: z.string(),
    tokenName: z.string(),
    tokenVersion: z.string(),
    tokenDecimals: z.number().int(),
    facilitatorAddresses: z.array(z.string()),
  })
  .meta({ id: "PaymentScope", description: "What the credential must contain." });

export const Storefront = z
  .object({
    name: z.string(),
    seller: z.object({
      sellerId: z.string().optional(),
      name: z.string(),
      domain: z.string(),
      verified: z.boolean(),
      minimumAssuranceLevel: z.string().optional(),
    }),
    sellerId: z.string().optional(),
    resourceId: z.string().optional(),
    catalogUrl: z.string().optional(),
    quoteUrl: z.string().optional(),
    checkoutUrl: z.string(),
    supportedPaymentChallengeTypes: z.array(z.string()),
    chain: z.string(),
    asset: z.string(),
    paymentScope: PaymentScope,
    agentInstructions: z.string().optional(),
    actions: FreeForm.optional(),
    metadata: FreeForm.optional(),
  })
  .meta({
    id: "Storefront",
    description: "Where the order is placed. The seller chose the names; this service decides seller.verified.",
  });
export type Storefront = z.input<typeof Storefront>;

export const Quote = z
  .object({
    quoteId: z.string(),
    sellerId: z.string().optional(),
    resourceId: z.string().optional(),
    amount: z.string(),
    asset: z.string(),
    items: z.array(z.object({ ...itemFields, totalAmount: z.string(), asset: z.string(), metadata: FreeForm.optional() })),
    expiresAt: Timestamp,
    metadata: FreeForm.optional(),
  })
  .meta({ id: "Quote", description: "What the storefront asks for these items." });
export type Quote = z.input<typeof Quote>;

export const PlacedOrder = z
  .object({
    setupUrl: z.string(),
    nextAction: z.object({ type: OrderActionType, url: z.string().optional(), label: z.string() }).meta({ id: "OrderAction" }),
    scope: PaymentScope,
    status: OrderStatus,
    storefront: Storefront,
    quote: Quote,
    intent: PaymentIntent.optional(),
    authorization: Authorization.optional(),
    paymentRequired: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: "The headers of the storefront's 402, for an x402 client to sign." }),
    agentInstructions: z.string(),
  })
  .meta({
    id: "PlacedOrder",
    description: "The current state of an order. The storefront's order id is in storefront.metadata.orderId.",
  });
export type PlacedOrder = z.input<typeof PlacedOrder>;
