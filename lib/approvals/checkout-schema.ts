/** Imports no server code, so that a browser can load it. */
import { z } from "zod";
import { Timestamp } from "#lib/time.ts";
import {
  ApprovalStatus,
  ApprovalSurface,
  CheckoutStatus,
  ContinuationTokenStatus,
  EffectSettlement,
  Environment,
  MandateMatch,
  MandateStatus,
} from "#lib/vocabulary.ts";

export const itemFields = {
  productId: z.string(),
  variantId: z.string().optional(),
  name: z.string(),
  color: z.string().optional(),
  size: z.string().optional(),
  quantity: z.number().int(),
  unitAmount: z.string(),
};

export const Basket = z
  .object({
    sellerId: z.string(),
    asset: z.string(),
    lines: z.array(z.object({ ...itemFields, displayUnitAmount: z.string(), asset: z.string() })),
  })
  .meta({
    id: "Basket",
    description: "The canonical basket: lines sorted, amounts normalized. basketHash is the SHA-256 of its RFC 8785 text.",
  });
export type Basket = z.input<typeof Basket>;

export const CheckoutIntent = z
  .object({
    checkoutIntentId: z.string(),
    ownerSubjectId: z.string(),
    ownerOrganizationId: z.string(),
    sellerId: z.string().optional(),
    storefrontUrl: z.string(),
    mandateId: z.string().optional(),
    detectedMandateId: z.string().optional(),
    mandateStatus: MandateMatch,
    canonicalBasket: Basket,
    basketHash: z.string(),
    amount: z.string(),
    displayAmount: z.string(),
    asset: z.string(),
    chain: z.string(),
    payTo: z.string(),
    tokenAddress: z.string(),
    tokenDecimals: z.number().int(),
    quoteId: z.string().optional(),
    status: CheckoutStatus,
    environment: Environment,
    effects: z
      .object({ movesFunds: z.boolean(), createsFulfillmentOrder: z.boolean(), settlement: EffectSettlement })
      .meta({ description: "What an approval of the checkout causes, and the state of its payment." }),
    createdAt: Timestamp,
    expiresAt: Timestamp,
  })
  .meta({ id: "CheckoutIntent", description: "What an agent wants to buy, as it is shown to the person who decides." });
export type CheckoutIntent = z.input<typeof CheckoutIntent>;

export const CheckoutApproval = z
  .object({
    approvalId: z.string(),
    checkoutIntentId: z.string(),
    status: ApprovalStatus,
    approvedAt: Timestamp.optional(),
    approvedBySubjectId: z.string(),
    preselectedMandateId: z.string().optional(),
    mandateId: z.string().optional(),
    authorizationId: z.string().optional(),
    approvalSurface: ApprovalSurface,
    approvedBasketHash: z.string().optional(),
    approvedAmount: z.string().optional(),
    approvedAsset: z.string().optional(),
    continuationTokenId: z
      .string()
      .optional()
      .meta({ description: "The id of the continuation token. It is not the token itself." }),
    continuationTokenStatus: ContinuationTokenStatus.optional(),
    expiresAt: Timestamp.optional(),
    createdAt: Timestamp,
  })
  .meta({ id: "CheckoutApproval", description: "A person's decision about a checkout." });
export type CheckoutApproval = z.input<typeof CheckoutApproval>;

export const MandateChoice = z
  .object({
    mandateId: z.string(),
    name: z.string(),
    status: MandateStatus,
    asset: z.string(),
    available: z.string().meta({ description: "What remains of its smallest budget." }),
    match: z.boolean().meta({ description: "Whether it covers this checkout now." }),
  })
  .meta({ id: "MandateChoice", description: "A mandate of the buyer under which the checkout could be paid." });
export type MandateChoice = z.input<typeof MandateChoice>;

export const ApprovedCheckout = z
  .object({ intent: CheckoutIntent, approval: CheckoutApproval, mandates: z.array(MandateChoice) })
  .meta({ id: "ApprovedCheckout" });
