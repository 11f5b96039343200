import { CheckReadiness, Readiness } from "#lib/commerce/readiness/readiness-schema.ts";
import { operation } from "#lib/http/operation.ts";
import { commonActions } from "#lib/next-actions.ts";

const asked = {
  mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8",
  storefrontUrl: "https://shop.example.com",
  items: [{ productId: "mug", variantId: "mug-blue", quantity: 2 }],
};

export const checkReadiness = operation({
  id: "checkReadiness",
  method: "POST",
  path: "/api/v1/agent/commerce/readiness",
  tag: "Commerce",
  summary: "Check whether an order could be placed now",
  description:
    "Reads the storefront, asks it for a quote if items are named, and simulates the mandate's policy. No amount is reserved and no decision is stored; an offer that the service saw is stored. Every check says what is missing and what to do; checks that the request does not need are skipped. Token data is only compared with the installation's configuration; a difference is answered with 400.",
  access: { capability: "readiness:read" },
  body: CheckReadiness,
  response: Readiness,
  problems: ["chain_unsupported", "asset_unsupported", "overloaded", "service_unavailable"],
  example: {
    body: asked,
    response: {
      status: "actionRequired",
      mandateId: asked.mandateId,
      scope: {
        ...asked,
        chain: "eip155:84532",
        asset: "USDC",
        amount: "43",
        payTo: "0x209693bc6afc0c5328ba36faf03c514ef312287c",
        metadata: { expiresInSeconds: 900, expiresAt: "2026-11-21T12:15:00.000Z" },
      },
      checks: [
        { key: "mandateActive", status: "ready", message: "The mandate is active.", nextActions: [] },
        {
          key: "approvalNeeded",
          status: "actionRequired",
          message: "The policy asks a person before every payment.",
          nextActions: [commonActions.approveCheckout],
        },
      ],
      requiredActions: [{ ...commonActions.approveCheckout, blocking: false }],
    },
  },
});
