import { z } from "zod";
import { AmountText } from "#lib/amount-text.ts";
import { AssetSymbol } from "#lib/evm.ts";
import { operation } from "#lib/http/operation.ts";
import { ClientId } from "#lib/ids.ts";
import { Evidence, PaymentRecord, RecordedPayment, RecordOutcome } from "#lib/payments/payment-schema.ts";
import { Timestamp } from "#lib/time.ts";

const authorizationId = "aut_01kaj4n7v8e2m0x3c9t5q6r7sa";

export const recordPayment = operation({
  id: "recordPayment",
  method: "POST",
  path: "/api/v1/payments/{authorizationId}/record",
  tag: "Payments",
  summary: "Record a part of a payment that was made elsewhere",
  description:
    "For a payment that was authorized with paymentChallengeType record, such as an invoice that is paid by transfer. amount is of this part, not the sum; each part has its own idempotency key. An agent records its own payments, with paid or partlyPaid: the amount is captured, and the rest stays held, because what an agent says frees nothing. A person, or a key with payments:record that is not the agent's own, closes the payment: paid captures the amount and frees the rest, notPaid (with the amount 0) frees what is held, refunded notes that money came back and frees nothing. A person needs the same step-up as for approving what is freed: if the answer is step_up_required, send metadata.act to stepUp and repeat the call. If more was paid than was held, it counts, and a person is asked (exceeded). A part is accepted under every mandate, because the money may have moved.",
  access: { capability: "payments:execute", orCapability: "payments:record" },
  body: z
    .strictObject({
      idempotencyKey: ClientId,
      outcome: RecordOutcome,
      amount: AmountText,
      asset: AssetSymbol,
      paidAt: Timestamp.optional(),
      reference: z.string().trim().min(1).max(140).optional(),
      evidence: Evidence.optional(),
    })
    .meta({ id: "RecordPayment" }),
  response: z.object({ payment: RecordedPayment, record: PaymentRecord }).meta({ id: "RecordedPart" }),
  problems: ["not_found", "approval_required", "step_up_required", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { authorizationId },
    body: {
      idempotencyKey: "invoice-4711-part-1",
      outcome: "partlyPaid",
      amount: "40",
      asset: "USD",
      paidAt: "2026-11-21T12:00:00.000Z",
      reference: "transfer 98231",
    },
    response: {
      payment: {
        status: "open",
        asset: "USD",
        paid: "40",
        refunded: "0",
        unit: "USD",
        held: "100",
        captured: "40",
        released: "0",
        open: "60",
        deadline: "2026-12-05T12:00:00.000Z",
      },
      record: {
        recordId: "rec_01kaj4n7v8e2m0x3c9t5q6r7sj",
        outcome: "partlyPaid",
        amount: "40",
        asset: "USD",
        booked: "40",
        unit: "USD",
        paidAt: "2026-11-21T12:00:00.000Z",
        reference: "transfer 98231",
        recordedBy: "sa_01kaj4n7v8e2m0x3c9t5q6r7s1",
        byAgent: true,
        createdAt: "2026-11-21T12:00:03.000Z",
      },
    },
  },
});
