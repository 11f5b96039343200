import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { Id } from "#lib/ids.ts";
import { AskedIntent, Authorization } from "#lib/payments/intent.ts";

export const authorizePayment = operation({
  id: "authorizePayment",
  method: "POST",
  path: "/api/v1/payments/authorize",
  tag: "Payments",
  summary: "Authorize a payment against a mandate's policy",
  description:
    "Decides whether this payment may be made. allow, deny and requireApproval are all answered with 200 and stored; an allowed payment is held in the mandate's budget at once. The idempotency key stands in intent.idempotencyKey or in the Idempotency-Key header.",
  access: { capability: "payments:authorize" },
  idempotencyKeyAt: ["intent", "idempotencyKey"],
  body: z.strictObject({ mandateId: Id, intent: AskedIntent }).meta({ id: "AuthorizePayment" }),
  response: Authorization,
  problems: ["idempotency_key_required", "idempotency_key_reused", "not_found", "overloaded", "service_unavailable"],
  example: {
    body: {
      mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8",
      intent: {
        intentId: "report-2026-11-21-0001",
        enforcementPath: "offchain",
        paymentChallengeType: "x402",
        seller: { sellerId: "sel_01kaj4n7v8e2m0x3c9t5q6r7s9", domain: "data.example.com" },
        resource: { resourceId: "daily-report", method: "GET", pathTemplate: "/reports/daily" },
        amount: "0.25",
        asset: "USDC",
        chain: "eip155:84532",
        expiresAt: "2026-11-21T12:10:00.000Z",
        nonce: "n-0001",
        idempotencyKey: "report-2026-11-21-0001",
      },
    },
    response: {
      authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa",
      policyDecision: {
        policyDecisionId: "pd_01kaj4n7v8e2m0x3c9t5q6r7sb",
        mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8",
        intentId: "report-2026-11-21-0001",
        outcome: "allow",
        reasons: [
          {
            code: "satisfied",
            rule: "limits.perPayment",
            effect: "allow",
            message: "This payment of 0.25 USDC is within the limit of 1.00 USDC per payment.",
            pointer: "/limits/perPayment",
            limit: "1",
            requested: "0.25",
            remaining: "0.75",
            unit: "USDC",
            policyVersion: 1,
          },
        ],
        reservationId: "rsv_01kaj4n7v8e2m0x3c9t5q6r7sc",
        createdAt: "2026-11-21T12:00:00.000Z",
      },
      expiresAt: "2026-11-21T12:10:00.000Z",
    },
  },
});
