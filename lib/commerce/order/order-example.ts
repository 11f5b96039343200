/** Imports no server code, so that a browser can load it. */
import { checkoutExample } from "#lib/approvals/examples.ts";
import { feeQuoteExample } from "#lib/billing/fee-quote-example.ts";
import type { PlacedOrder } from "#lib/commerce/order/placed-order-schema.ts";

const { payTo, tokenAddress, chain, asset, amount, quoteId, mandateId } = checkoutExample;
/** The seller in the example is not registered, so the fee quote names no seller's organization. */
const { sellerOrganizationId: _, ...feeQuote } = feeQuoteExample;
const orderId = "ord_01kaj4n7v8e2m0x3c9t5q6r7t3";
const expiresAt = "2026-11-21T12:10:00.000Z";
const createdAt = "2026-11-21T12:00:00.000Z";
const domain = "shop.example.com";

const scope = {
  paymentMode: "eip3009",
  payTo,
  tokenAddress,
  tokenName: "USDC",
  tokenVersion: "2",
  tokenDecimals: 6,
  facilitatorAddresses: [],
};

export const orderExample: PlacedOrder = {
  setupUrl: `https://pay.example.com/mandates/${mandateId}`,
  nextAction: {
    type: "submitPaymentCredential",
    url: "https://pay.example.com/api/v1/agent/commerce/place-order",
    label: "Send the payment credential",
  },
  scope,
  status: "paymentCredentialRequired",
  storefront: {
    name: "Example Shop",
    seller: { name: "Example Shop", domain, verified: false },
    catalogUrl: `https://${domain}/agent/catalog`,
    quoteUrl: `https://${domain}/agent/quotes`,
    checkoutUrl: `https://${domain}/agent/checkout`,
    supportedPaymentChallengeTypes: ["x402"],
    chain,
    asset,
    paymentScope: scope,
    metadata: { source: "manifest" },
  },
  quote: {
    quoteId,
    amount,
    asset,
    items: [
      {
        productId: "mug",
        variantId: "mug-blue",
        name: "Mug",
        color: "blue",
        quantity: 2,
        unitAmount: "21.5",
        totalAmount: "43",
        asset,
      },
    ],
    expiresAt,
  },
  intent: {
    intentId: orderId,
    enforcementPath: "offchain",
    paymentProtocol: "x402",
    paymentChallengeType: "x402",
    settlementMode: "offchainAuthorized",
    seller: { domain, verified: false },
    amount,
    asset,
    chain,
    payTo,
    feeQuote: {
      ...feeQuote,
      buyerOrganizationId: checkoutExample.ownerOrganizationId,
      chain,
      asset,
      grossAmount: amount,
      sellerNetAmount: amount,
      expiresAt,
      createdAt,
    },
    expiresAt,
    nonce: orderId,
    idempotencyKey: "order-2026-11-21-0001",
    createdAt,
  },
  authorization: {
    authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa",
    policyDecision: {
      policyDecisionId: "pd_01kaj4n7v8e2m0x3c9t5q6r7sb",
      mandateId,
      intentId: orderId,
      outcome: "allow",
      reasons: [],
      reservationId: "rsv_01kaj4n7v8e2m0x3c9t5q6r7sc",
      createdAt,
    },
    expiresAt,
  },
  paymentRequired: { "PAYMENT-REQUIRED": "eyJ4NDAyVmVyc2lvbiI6Mn0=" },
  agentInstructions:
    "Sign the challenge in paymentRequired with the paying wallet, and repeat this call with the same idempotencyKey and the signature as paymentCredential.",
};
