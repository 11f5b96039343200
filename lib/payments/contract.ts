import { z } from "zod";
import { Waiver } from "#lib/approvals/decision/waiver-schema.ts";
import { feeQuoteExample } from "#lib/billing/fee-quote-example.ts";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { ClientId, Id } from "#lib/ids.ts";
import { Payment, PaymentExecution } from "#lib/payments/payment-schema.ts";
import { AskedIntent, Authorization } from "#lib/payment-intent.ts";
import { ErrorBody } from "#lib/problem.ts";
import { Outcome, SettlementStatus } from "#lib/vocabulary.ts";
import { failureCodes } from "#lib/x402/failure.ts";

export const authorizePayment = operation({
  id: "authorizePayment",
  method: "POST",
  path: "/api/v1/payments/authorize",
  tag: "Payments",
  summary: "Authorize a payment against a mandate's policy",
  description:
    "Decides whether this payment may be made. allow, deny and requireApproval are all answered with 200 and stored; the amount of an allowed payment is reserved in the mandate's budget at once. If a person is asked, the reason with the effect approval contains the page for the buyer (href), the call that waits for the decision (pollWith), and the call that pays after an approval (next). Send the idempotency key in intent.idempotencyKey or in the Idempotency-Key header.",
  access: { capability: "payments:authorize" },
  idempotencyKeyAt: ["intent", "idempotencyKey"],
  madeAnew: [
    ["intent", "expiresAt"],
    ["intent", "createdAt"],
  ],
  body: z.strictObject({ mandateId: Id, intent: AskedIntent }).meta({ id: "AuthorizePayment" }),
  response: Authorization,
  problems: [
    "idempotency_key_required",
    "idempotency_key_reused",
    "not_found",
    "approval_limit_reached",
    "overloaded",
    "service_unavailable",
  ],
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

export const AUTHORIZATIONS_MAX = 20;

type AskedPayment = z.input<typeof authorizePayment.body>;

/** A payment of a batch. Each payment is checked separately, so that the valid payments are decided even if one is invalid. */
const OnePayment = z.unknown().meta({ $ref: "#/$defs/AuthorizePayment" }) as z.ZodType<unknown, AskedPayment>;

export const AuthorizeResult = z
  .object({
    status: z.int().meta({ description: "The status that authorizePayment would answer for this payment alone." }),
    replayed: z.boolean().optional().meta({ description: "Present on a 200: whether the answer was stored before." }),
    authorization: Authorization.optional().meta({ description: "The answer of authorizePayment, if status is 200." }),
    retryAfterSeconds: z
      .int()
      .optional()
      .meta({ description: "After how many seconds to send this payment again. Present if the problem is temporary." }),
    problem: ErrorBody.optional().meta({ description: "The problem, if status is not 200. Pointers start at the payment." }),
  })
  .meta({ id: "AuthorizeResult", description: "The result for one payment of the batch." });

export const authorizePayments = operation({
  id: "authorizePayments",
  method: "POST",
  path: "/api/v1/payments/authorize-batch",
  tag: "Payments",
  summary: "Authorize up to 20 payments in one call",
  description:
    "Decides each payment as authorizePayment would: with its own mandate, idempotency key (in intent.idempotencyKey) and answer, and at the cost of one request in the rate limit. If a payment was authorized with authorizePayment before, the same key returns that answer here, and vice versa. The payments are independent, except that those of one mandate share its budget; items has one result for each, in the order of the request. The answer is 200 even if every payment is denied or refused. If you send the call again, each payment that was decided gets its stored answer.",
  access: { capability: "payments:authorize" },
  bodyLimits: { bytes: 262_144, nodes: 10_000, depth: 18 },
  body: z.strictObject({ payments: z.array(OnePayment).min(1).max(AUTHORIZATIONS_MAX) }).meta({ id: "AuthorizePayments" }),
  response: z.object({ items: z.array(AuthorizeResult) }).meta({ id: "AuthorizeResults" }),
  problems: [],
  example: {
    body: { payments: [authorizePayment.example.body] },
    response: { items: [{ status: 200, replayed: false, authorization: authorizePayment.example.response }] },
  },
});

const execution = {
  executionId: "exe_01kaj4n7v8e2m0x3c9t5q6r7se",
  intentId: "report-2026-11-21-0001",
  authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa",
  enforcementPath: "offchain",
  paymentProtocol: "x402",
  paymentChallengeType: "x402",
  settlementMode: "offchainAuthorized",
  feeQuote: feeQuoteExample,
  settlementStatus: "pending",
  paymentCredentialHash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
  credentialHeaders: { "PAYMENT-SIGNATURE": "eyJ4NDAyVmVyc2lvbiI6Mn0=" },
  createdAt: "2026-11-21T12:00:01.000Z",
} as const;

const payment = {
  intent: {
    ...authorizePayment.example.body.intent,
    paymentProtocol: "x402",
    settlementMode: "offchainAuthorized",
    payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    feeQuote: feeQuoteExample,
    createdAt: "2026-11-21T12:00:00.000Z",
  },
  authorization: authorizePayment.example.response,
  executions: [execution],
} as const;

export const executePayment = operation({
  id: "executePayment",
  method: "POST",
  path: "/api/v1/payments/execute",
  tag: "Payments",
  summary: "Execute an authorized payment",
  description:
    "Pays an authorized payment with a signed x402 credential. With settlementMode offchainAuthorized the answer is pending and contains the headers to send to the seller; with facilitatorSettled the service settles the payment first. A failed execution is recorded and answered with a 402 that names the failure. Leave the credential out if the mandate is registered on the chain for this payee: the service signs it (service7702) for the offer in the intent's challenge. The challenge must be the seller's own 402, because the seller's server compares it exactly. If the chain would refuse the payment, the answer names the reason before anything is signed. With the intent's enforcementPath onchain the payment module pays from the buyer's account: the service relays the transaction, accepts no credential, and the execution is processing until the transaction is mined. In all other cases the answer to a call without a credential is a 402 that says what to sign. If nobody decided about a payment in time, the answer is 410 approval_expired: authorize again to ask again. approval_rejected means that a person declined, and approval_revoked that a person took the approval back before it was used.",
  access: { capability: "payments:execute" },
  // A wallet signs with a new nonce each time, so a retry may contain another signed payment than the first request.
  madeAnew: [["paymentCredential"]],
  // A credential repeats the seller's 402, which may be as large as the body of authorizePayment.
  bodyLimits: { bytes: 131_072, nodes: 100, depth: 16 },
  body: z
    .strictObject({ authorizationId: Id, idempotencyKey: ClientId, paymentCredential: z.string().max(98_304).optional() })
    .meta({ id: "ExecutePayment" }),
  response: PaymentExecution,
  problems: [
    "credential_missing",
    "wallet_not_delegated",
    ...failureCodes,
    "forbidden",
    "policy_denied",
    "approval_required",
    "approval_rejected",
    "approval_revoked",
    "approval_expired",
    "mandate_revoked",
    "mandate_not_active",
    "mandate_not_yet_valid",
    "mandate_expired",
    "payee_not_allowed",
    "asset_not_allowed",
    "per_payment_limit_exceeded",
    "count_limit_exceeded",
    "period_budget_exceeded",
    "not_found",
    "authorization_consumed",
    "idempotency_in_flight",
    "authorization_expired",
    "idempotency_key_reused",
    "rpc_unavailable",
  ],
  variants: [402],
  example: {
    body: {
      authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa",
      idempotencyKey: "report-2026-11-21-0001-pay",
      paymentCredential: "eyJ4NDAyVmVyc2lvbiI6Mn0=",
    },
    response: execution,
  },
});

export const getExecution = operation({
  id: "getExecution",
  method: "GET",
  path: "/api/v1/payments/executions/{executionId}",
  tag: "Payments",
  summary: "Read one execution",
  access: { capability: "payments:read" },
  response: PaymentExecution,
  problems: ["not_found"],
  example: { params: { executionId: execution.executionId }, response: execution },
});

export const getPayment = operation({
  id: "getPayment",
  method: "GET",
  path: "/api/v1/payments/{authorizationId}",
  tag: "Payments",
  summary: "Read a payment: its intent, its authorization and its executions",
  description:
    "If a person is asked about the payment, checkout has the state of the request and notification says whether people were told about it.",
  access: { capability: "payments:read" },
  response: Payment,
  problems: ["not_found"],
  example: { params: { authorizationId: execution.authorizationId }, response: payment },
});

export const allowPaymentOnce = operation({
  id: "allowPaymentOnce",
  method: "POST",
  path: "/api/v1/payments/allow-once/{authorizationId}",
  tag: "Payments",
  summary: "Allow a refused payment once",
  description:
    "For people in a browser session who may change mandates. It asks for the same step-up as approving the same amount: if it answers step_up_required, send metadata.act to stepUp and repeat the call. Its amount counts in the sum of 24 hours. If the mandate asks about each payment, the payment still waits for an approval. The refused payment itself stays refused: for an hour, the same agent may authorize the same payment again, once, under a new idempotency key. The mandate does not change, and its budgets, totals and counts still apply. It is possible only if the limit for one payment, the limit for fees, or a list of allowed sellers, domains, addresses or resources refused the payment, and only for a registered seller with a verified domain. Allowing the same refused payment again changes nothing. A purchase by card that was refused because a person must clear it (clearance_needed) is cleared with the same call: for 30 minutes the same card passes once at the same merchant, for up to a tenth more or less.",
  access: { sessionCapability: "mandates:manage" },
  body: z.strictObject({}).meta({ id: "AllowPaymentOnce" }),
  response: z.object({ waiver: Waiver }).meta({ id: "AllowedPayment" }),
  problems: ["step_up_required", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { authorizationId: execution.authorizationId },
    body: {},
    response: {
      waiver: {
        waiverId: "wav_01kaj4n7v8e2m0x3c9t5q6r7sg",
        mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8",
        policyVersion: 1,
        deniedAuthorizationId: execution.authorizationId,
        agentId: "sa_01kaj4n7v8e2m0x3c9t5q6r7sh",
        basketHash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
        payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        grantedBySubjectId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s1",
        createdAt: "2026-11-21T12:00:00.000Z",
        expiresAt: "2026-11-21T13:00:00.000Z",
      },
    },
  },
});

export const listPayments = operation({
  id: "listPayments",
  method: "GET",
  path: "/api/v1/payments",
  tag: "Payments",
  summary: "List payments, newest first",
  description:
    "A client that lost an answer finds the payment by idempotencyKey, which is the key of an authorize or execute request, or of the order that made the payment.",
  access: { capability: "payments:read" },
  query: z.strictObject({
    ...PageQuery.shape,
    idempotencyKey: ClientId.optional(),
    mandateId: Id.optional(),
    outcome: Outcome.optional(),
    settlementStatus: SettlementStatus.optional(),
  }),
  response: pageOf(Payment),
  problems: [],
  example: {
    query: { limit: "20", mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8" },
    response: { items: [payment], hasMore: false },
  },
});
