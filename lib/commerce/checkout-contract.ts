import { z } from "zod";
import { ApprovedCheckout, CheckoutApproval, CheckoutIntent, MandateChoice } from "#lib/approvals/checkout-schema.ts";
import { approvalExample, checkoutExample, mandateChoiceExample } from "#lib/approvals/examples.ts";
import { ItemMetadata, OrderItems, StorefrontUrl } from "#lib/approvals/order-item-schema.ts";
import { CHECKOUT_PATH } from "#lib/approvals/poll-checkout.ts";
import { Call } from "#lib/call-schema.ts";
import { operation } from "#lib/http/operation.ts";
import { ClientId, Id } from "#lib/ids.ts";
import { Notification } from "#lib/notices/notification-schema.ts";

const { checkoutIntentId } = checkoutExample;

export const CheckoutNextAction = z
  .object({ type: z.enum(["openBrowser", "none"]), url: z.string().optional(), label: z.string() })
  .meta({
    id: "CheckoutNextAction",
    description: "What happens next. openBrowser: a person must open the url and decide there.",
  });

export const previewCheckout = operation({
  id: "previewCheckout",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts",
  tag: "Commerce",
  summary: "Preview a basket and open a checkout for the buyer to confirm",
  description:
    "Reads the storefront, asks for a quote, compares it with the 402 at its checkout and finds the mandate that would pay. Nothing is held. A mandate has at most one open checkout for a basket; calling again returns it.",
  access: { capability: "checkouts:preview" },
  status: 201,
  body: z
    .strictObject({
      storefrontUrl: StorefrontUrl,
      items: OrderItems,
      idempotencyKey: ClientId,
      mandateId: Id.optional(),
      metadata: ItemMetadata.optional(),
      expiresInSeconds: z.int().min(1).max(86_400).optional(),
    })
    .meta({ id: "PreviewCheckout" }),
  response: z.object({ intent: CheckoutIntent, nextAction: CheckoutNextAction }).meta({ id: "PreviewedCheckout" }),
  problems: [
    "not_found",
    "conflict",
    "out_of_stock",
    "price_changed",
    "quote_expired",
    "approval_limit_reached",
    "idempotency_in_flight",
    "idempotency_key_reused",
    "items_ambiguous",
    "chain_unsupported",
    "asset_unsupported",
    "storefront_unavailable",
    "storefront_invalid",
  ],
  example: {
    body: {
      storefrontUrl: "https://shop.example.com",
      items: [{ productId: "mug", variantId: "mug-blue", quantity: 2 }],
      idempotencyKey: "preview-2026-11-21-0001",
    },
    response: {
      intent: checkoutExample,
      nextAction: {
        type: "openBrowser",
        url: `https://pay.example.com/checkout/${checkoutIntentId}`,
        label: "Confirm this purchase",
      },
    },
  },
});

export const getCheckout = operation({
  id: "getCheckout",
  method: "GET",
  path: CHECKOUT_PATH,
  tag: "Commerce",
  summary: "Read a checkout, or wait for its buyer",
  description:
    "With waitSeconds the answer comes as soon as somebody decides, and at the latest after that time. Only the service account that previewed the checkout gets the continuationToken, and only while the account is active; the checkout of an authorized payment has none. next is the next call of the agent that asked: this operation again while nobody has decided; after an approval continueCheckout, placeOrder again, or executePayment. notification says whether people were told about the request. If the status is expired, nobody declined it: ask again.",
  access: { capability: "checkouts:read" },
  waitsMs: 30_000,
  query: z.strictObject({ waitSeconds: z.coerce.number().int().min(0).max(30).optional() }),
  response: z
    .object({
      intent: CheckoutIntent,
      approval: CheckoutApproval.optional(),
      mandates: z.array(MandateChoice),
      continuationToken: z.string().optional().meta({ description: "A secret: anybody who has it can continue the checkout." }),
      next: Call.optional().meta({ description: "The next call of the agent that asked. Absent if there is none." }),
      notification: Notification.optional().meta({ description: "Absent after the decision." }),
    })
    .meta({ id: "Checkout" }),
  problems: ["not_found", "overloaded"],
  example: {
    params: { checkoutIntentId },
    query: { waitSeconds: "30" },
    response: {
      intent: { ...checkoutExample, status: "approved" },
      approval: approvalExample,
      mandates: [mandateChoiceExample],
      continuationToken: "cst_<43 characters>",
      next: {
        method: "POST",
        path: `/api/v1/agent/commerce/checkouts/${checkoutIntentId}/continue`,
        body: { continuationToken: "cst_<43 characters>", idempotencyKey: checkoutIntentId },
      },
    },
  },
});

export const approveCheckout = operation({
  id: "approveCheckout",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts/{checkoutIntentId}/approve",
  tag: "Commerce",
  summary: "Approve a checkout and create its continuation token",
  description:
    "For people in a browser session. It approves the terms that this session was shown in the last ten minutes, and reserves the amount, unless it is reserved already. Approving again while the approval is active returns the same approval.",
  access: { sessionCapability: "checkouts:approve" },
  body: z.strictObject({ mandateId: Id.optional() }).meta({ id: "ApproveCheckout" }),
  response: ApprovedCheckout,
  problems: [
    "not_found",
    "approval_already_decided",
    "review_required",
    "checkout_changed",
    "checkout_closed",
    "no_matching_mandate",
    "intent_expired",
    "idempotency_key_reused",
    "step_up_required",
    "overloaded",
    "service_unavailable",
  ],
  example: {
    params: { checkoutIntentId },
    body: {},
    response: {
      intent: { ...checkoutExample, status: "approved" },
      approval: approvalExample,
      mandates: [mandateChoiceExample],
    },
  },
});

const changeProblems = [
  "approval_already_decided",
  "checkout_closed",
  "intent_expired",
  "idempotency_in_flight",
  "idempotency_key_reused",
] as const;

const IntentReply = z.object({ intent: CheckoutIntent }).meta({ id: "CheckoutReply" });

export const rejectCheckout = operation({
  id: "rejectCheckout",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts/{checkoutIntentId}/reject",
  tag: "Commerce",
  summary: "Decline a checkout",
  description: "Nothing is paid, and the reserved amount is released. Declining again changes nothing.",
  access: { sessionCapability: "checkouts:approve" },
  body: z.strictObject({ reason: z.string().trim().min(1).max(500).optional() }).meta({ id: "RejectCheckout" }),
  response: IntentReply,
  problems: ["not_found", ...changeProblems],
  example: {
    params: { checkoutIntentId },
    body: { reason: "We have enough mugs." },
    response: { intent: { ...checkoutExample, status: "rejected" } },
  },
});

export const takeBackApproval = operation({
  id: "takeBackApproval",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts/{checkoutIntentId}/take-back",
  tag: "Commerce",
  summary: "Take back an approval that was not used",
  description:
    "For people in a browser session, until the agent uses the approval. The approval is revoked, the reserved amount is released, and executePayment and continueCheckout answer approval_revoked. After the answer nothing can be paid with the approval. Taking it back again changes nothing.",
  access: { sessionCapability: "checkouts:approve" },
  body: z.strictObject({}).meta({ id: "TakeBackApproval" }),
  response: z.object({ intent: CheckoutIntent, approval: CheckoutApproval }).meta({ id: "TakenBackApproval" }),
  problems: [
    "not_found",
    "conflict",
    "authorization_consumed",
    "checkout_closed",
    "continuation_expired",
    "idempotency_in_flight",
    "idempotency_key_reused",
  ],
  example: {
    params: { checkoutIntentId },
    body: {},
    response: {
      intent: { ...checkoutExample, status: "rejected" },
      approval: { ...approvalExample, status: "revoked", continuationTokenStatus: "revoked" },
    },
  },
});

export const extendCheckout = operation({
  id: "extendCheckout",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts/{checkoutIntentId}/extend",
  tag: "Commerce",
  summary: "Give a request more time",
  description:
    "For people in a browser session, once for each request. The request then waits as long as the seller's quote, the agent's intent and the mandate allow, at most 24 hours from its creation. The reserved amount stays reserved. Repeated answers of authorizePayment keep their earlier expiry. Calling it again changes nothing.",
  access: { sessionCapability: "checkouts:approve" },
  body: z.strictObject({}).meta({ id: "ExtendCheckout" }),
  response: IntentReply,
  problems: ["not_found", "conflict", ...changeProblems],
  example: {
    params: { checkoutIntentId },
    body: {},
    response: { intent: { ...checkoutExample, status: "awaiting_approval", expiresAt: "2026-11-21T14:00:00.000Z" } },
  },
});

export const cancelCheckout = operation({
  id: "cancelCheckout",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts/{checkoutIntentId}/cancel",
  tag: "Commerce",
  summary: "Cancel a checkout",
  description: "For the agent that opened it, until it has used the approval. Its approval, if there is one, is revoked.",
  access: { capability: "checkouts:preview" },
  body: z.strictObject({}).meta({ id: "CancelCheckout" }),
  response: IntentReply,
  problems: ["forbidden", "not_found", "conflict", ...changeProblems],
  example: { params: { checkoutIntentId }, body: {}, response: { intent: { ...checkoutExample, status: "canceled" } } },
});
