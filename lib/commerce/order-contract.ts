import { z } from "zod";
import { checkoutExample } from "#lib/approvals/examples.ts";
import { ItemMetadata, OrderItems, StorefrontUrl } from "#lib/approvals/order-item-schema.ts";
import { orderExample } from "#lib/commerce/order/order-example.ts";
import { PlacedOrder } from "#lib/commerce/order/placed-order-schema.ts";
import { operation } from "#lib/http/operation.ts";
import { ClientId, Id } from "#lib/ids.ts";

const { checkoutIntentId } = checkoutExample;

const problems = [
  "forbidden",
  "wallet_not_delegated",
  "mandate_revoked",
  "mandate_not_active",
  "mandate_not_yet_valid",
  "mandate_expired",
  "per_payment_limit_exceeded",
  "count_limit_exceeded",
  "not_found",
  "authorization_consumed",
  "approval_basket_mismatch",
  "approval_revoked",
  "approval_limit_reached",
  "continuation_expired",
  "authorization_expired",
  "out_of_stock",
  "price_changed",
  "quote_expired",
  "idempotency_in_flight",
  "idempotency_key_reused",
  "items_ambiguous",
  "chain_unsupported",
  "asset_unsupported",
  "storefront_unavailable",
  "storefront_invalid",
  "rpc_unavailable",
  "overloaded",
  "service_unavailable",
] as const;

const Credential = z.string().max(65_536).optional();

export const placeOrder = operation({
  id: "placeOrder",
  method: "POST",
  path: "/api/v1/agent/commerce/place-order",
  tag: "Commerce",
  summary: "Place an order at a storefront and pay it under a mandate",
  description:
    "The whole order has one idempotency key: repeat the call with the same key, storefrontUrl, mandateId and items to continue it. Every state of the order is answered with 200. The first call reads the storefront, evaluates the mandate's policy and reserves the amount. With paymentCredential the order is paid and placed. If the mandate is registered on the chain for the storefront's payee, the service creates the credential itself (scope.paymentMode service7702) and pays in the same call. If a person is asked, repeat the call after the approval.",
  access: { capability: "orders:place" },
  body: z
    .strictObject({
      storefrontUrl: StorefrontUrl,
      mandateId: Id,
      items: OrderItems,
      idempotencyKey: ClientId,
      metadata: ItemMetadata.optional(),
      paymentCredential: Credential,
    })
    .meta({ id: "PlaceOrder" }),
  response: PlacedOrder,
  problems,
  example: {
    body: {
      storefrontUrl: "https://shop.example.com",
      mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8",
      items: [{ productId: "mug", variantId: "mug-blue", quantity: 2 }],
      idempotencyKey: "order-2026-11-21-0001",
    },
    response: orderExample,
  },
});

export const continueCheckout = operation({
  id: "continueCheckout",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts/{checkoutIntentId}/continue",
  tag: "Commerce",
  summary: "Continue an approved checkout: redeem its continuation token and place the order",
  description:
    "The token of getCheckout can be redeemed once, for exactly what the buyer approved. To continue the order, repeat the same call with the same idempotency key, and with paymentCredential after you signed it. If the service creates the credential itself (scope.paymentMode service7702), this call pays.",
  access: { capability: "orders:place" },
  body: z
    .strictObject({
      continuationToken: z.string().regex(/^cst_[A-Za-z0-9_-]{1,128}$/, "This is not a continuation token."),
      idempotencyKey: ClientId,
      paymentCredential: Credential,
    })
    .meta({ id: "ContinueCheckout" }),
  response: PlacedOrder,
  problems: [...problems, "checkout_closed"],
  example: {
    params: { checkoutIntentId },
    body: { continuationToken: "cst_5oYXJ1c0dLZXkxMjM0NTY3ODkwYWJjZGVmZ2hpamtsbW4", idempotencyKey: "order-2026-11-21-0002" },
    response: orderExample,
  },
});
