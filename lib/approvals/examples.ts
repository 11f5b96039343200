/** Imports no server code, so that a browser can load it. */
import type { CheckoutApproval, MandateChoice } from "#lib/approvals/checkout-schema.ts";

export const checkoutExample = {
  checkoutIntentId: "cki_01kaj4n7v8e2m0x3c9t5q6r7t0",
  ownerSubjectId: "sa_01kaj4n7v8e2m0x3c9t5q6r7s2",
  ownerOrganizationId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0",
  storefrontUrl: "https://shop.example.com",
  mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8",
  detectedMandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8",
  mandateStatus: "active_match",
  canonicalBasket: {
    sellerId: "shop.example.com",
    asset: "USDC",
    lines: [
      {
        productId: "mug",
        variantId: "mug-blue",
        name: "Mug",
        color: "blue",
        quantity: 2,
        unitAmount: "21.5",
        displayUnitAmount: "21.50 USDC",
        asset: "USDC",
      },
    ],
  },
  basketHash: "9d2c1f7a35c5c7f0a1f6c6a5c0a8b4f1a2b3c4d5e6f708192a3b4c5d6e7f8091",
  amount: "43",
  displayAmount: "43.00 USDC",
  asset: "USDC",
  chain: "eip155:84532",
  payTo: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
  tokenAddress: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
  tokenDecimals: 6,
  quoteId: "q-1001",
  status: "previewed",
  environment: "sandbox",
  effects: { movesFunds: true, createsFulfillmentOrder: true, settlement: "none" },
  createdAt: "2026-11-21T12:00:00.000Z",
  expiresAt: "2026-11-21T12:30:00.000Z",
} as const;

export const approvalExample = {
  approvalId: "apr_01kaj4n7v8e2m0x3c9t5q6r7t1",
  checkoutIntentId: checkoutExample.checkoutIntentId,
  status: "pending",
  approvedAt: "2026-11-21T12:05:00.000Z",
  approvedBySubjectId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s1",
  preselectedMandateId: checkoutExample.mandateId,
  mandateId: checkoutExample.mandateId,
  approvalSurface: "service_hosted_confirmation",
  approvedBasketHash: checkoutExample.basketHash,
  approvedAmount: checkoutExample.amount,
  approvedAsset: checkoutExample.asset,
  continuationTokenId: "ctk_01kaj4n7v8e2m0x3c9t5q6r7t2",
  continuationTokenStatus: "active",
  expiresAt: "2026-11-21T13:05:00.000Z",
  createdAt: "2026-11-21T12:05:00.000Z",
} as const satisfies CheckoutApproval;

export const mandateChoiceExample = {
  mandateId: checkoutExample.mandateId,
  name: "Office supplies",
  status: "active",
  asset: "USDC",
  available: "57",
  match: true,
} as const satisfies MandateChoice;
