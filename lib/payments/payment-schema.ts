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

export const Payment = z
  .object({
    intent: PaymentIntent,
    authorization: Authorization,
    executions: z.array(PaymentExecution),
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
