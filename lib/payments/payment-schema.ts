/** The wire shapes of a payment and of an execution, shared by the operations that return them. Browser-safe. */
import { z } from "zod";
import { CheckoutApproval } from "#lib/approvals/checkout-schema.ts";
import { Waiver } from "#lib/approvals/decision/waiver-schema.ts";
import { Notification } from "#lib/notices/notification-schema.ts";
import { Authorization, FeeQuote, PaymentIntent } from "#lib/payment-intent.ts";
import { Timestamp } from "#lib/time.ts";
import {
  Actor,
  Category,
  CheckoutStatus,
  EnforcementPath,
  PaymentChallengeType,
  PaymentProtocol,
  SettlementMode,
  SettlementStatus,
} from "#lib/vocabulary.ts";

export const PaymentExecution = z
  .object({
    executionId: z.string(),
    intentId: z.string(),
    authorizationId: z.string(),
    enforcementPath: EnforcementPath,
    paymentProtocol: PaymentProtocol,
    paymentChallengeType: PaymentChallengeType,
    settlementMode: SettlementMode,
    feeQuote: FeeQuote,
    settlementStatus: SettlementStatus,
    paymentCredentialHash: z.string().optional(),
    credentialHeaders: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: "Send these headers to the seller. Shown only to the subject that executed it." }),
    settlementReference: z.string().optional().meta({ description: "The hash of the settling transaction." }),
    failureCode: z.string().optional(),
    failureCategory: Category.optional(),
    failureActor: Actor.optional(),
    failureDetail: z.string().optional(),
    failureMetadata: z.record(z.string(), z.unknown()).optional(),
    heldUntil: Timestamp.optional().meta({
      description:
        "While the outcome is open: when the signed payment expires. The amount stays reserved until then, or until the network shows the outcome. A payment without an end has a time in the year 9999.",
    }),
    createdAt: Timestamp,
  })
  .meta({ id: "PaymentExecution", description: "One attempt to execute an authorized payment." });
export type PaymentExecution = z.input<typeof PaymentExecution>;

export const RecordOutcome = z
  .enum(["paid", "partlyPaid", "notPaid", "refunded"])
  .meta({ id: "RecordOutcome", description: "What somebody reports about a payment that is made elsewhere." });
export const RecordedStatus = z.enum(["open", "closed"]).meta({ id: "RecordedStatus" });
export const RecordQuestion = z.enum(["exceeded", "overdue"]).meta({
  id: "RecordQuestion",
  description: "exceeded: more was paid than was held. overdue: nobody closed the payment until its deadline.",
});

export const Evidence = z
  .strictObject({
    sha256: z.string().regex(/^[0-9a-f]{64}$/, "Write the SHA-256 as 64 hexadecimal digits in lower case."),
    url: z
      .url({ protocol: /^https$/ })
      .max(2_048)
      .optional(),
  })
  .meta({ id: "PaymentEvidence", description: "The hash of a document, such as a statement or receipt, and where it is." });

export const PaymentRecord = z
  .object({
    recordId: z.string(),
    outcome: RecordOutcome,
    amount: z.string().meta({ description: "Of this part, in the payment's asset." }),
    asset: z.string(),
    booked: z.string().meta({ description: "What this part took from the budget, in the mandate's unit." }),
    unit: z.string(),
    paidAt: Timestamp.optional(),
    reference: z.string().optional().meta({ description: "The payer's own reference." }),
    evidence: Evidence.optional(),
    recordedBy: z.string(),
    byAgent: z.boolean().meta({ description: "Whether the agent that pays said it. What it says frees no budget." }),
    createdAt: Timestamp,
  })
  .meta({ id: "PaymentRecord", description: "A part of a payment that was made elsewhere. Records never change." });
export type PaymentRecord = z.input<typeof PaymentRecord>;

export const RecordedPayment = z
  .object({
    status: RecordedStatus,
    asset: z.string(),
    paid: z.string().meta({ description: "The sum of what was recorded as paid, in the payment's asset." }),
    refunded: z.string(),
    unit: z.string().meta({ description: "The unit of the mandate, in which the next four amounts are." }),
    held: z.string(),
    captured: z.string(),
    released: z.string(),
    open: z.string().meta({ description: "What is still held: held - captured - released." }),
    deadline: Timestamp.meta({
      description: "Until when the payment is to be recorded. Then a person is asked; nothing is freed.",
    }),
    asks: RecordQuestion.optional().meta({ description: "What a person is asked to look at." }),
    closedAt: Timestamp.optional(),
    closedBy: z.string().optional(),
  })
  .meta({ id: "RecordedPayment", description: "The state of a payment that is made elsewhere and recorded here." });
export type RecordedPayment = z.input<typeof RecordedPayment>;

export const Payment = z
  .object({
    intent: PaymentIntent,
    authorization: Authorization,
    executions: z.array(PaymentExecution),
    recorded: RecordedPayment.optional().meta({
      description: "Only in getPayment of a payment that is made elsewhere: what was recorded of it.",
    }),
    records: z.array(PaymentRecord).optional().meta({ description: "Its parts, newest first." }),
    approval: CheckoutApproval.optional(),
    checkout: z.object({ checkoutIntentId: z.string(), status: CheckoutStatus, expiresAt: Timestamp }).optional().meta({
      description: "The request that asks a person about this payment. expired: nobody decided in time, so nobody refused.",
    }),
    waiver: Waiver.optional().meta({
      description:
        "Only in getPayment of a refused payment that a person allowed once. Authorize the same payment again to use it.",
    }),
    notification: Notification.optional().meta({ description: "Only in getPayment, while nobody has decided." }),
  })
  .meta({ id: "Payment", description: "An intent, its decision, and every attempt to execute it, newest first." });
export type Payment = z.input<typeof Payment>;
