import { createHash } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "#lib/canonical-json.ts";
import { Id } from "#lib/ids.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { next, problem, repeatFields } from "#lib/mcp/tools/shapes.ts";
import { repeatable, tool } from "#lib/mcp/tools/tool.ts";
import { recordPayment } from "#lib/payments/executions/record-contract.ts";

const nextSteps = {
  repeated: "This part was recorded before, so nothing was recorded again. Another part of the same amount needs a part name.",
  open: "Record each further part that you pay. What is open stays held until a person closes the payment.",
  exceeded: "You paid more than was held. It counts, and a person is asked. Tell your person why.",
  closed: "This payment is closed.",
} as const;

/** A part has the hash of its arguments as its key, so a repeat records nothing again. */
const keyOf = (args: object): string => `mcp_${createHash("sha256").update(canonicalJson(args)).digest("base64url")}`;

export const recordPaymentTool = tool({
  name: "record_payment",
  title: "Record what you paid elsewhere",
  description:
    "Records a part of a payment that authorize_payment allowed with paymentChallengeType record, and that you made by your own means. amount is of this part, not the sum. It counts as spent; the rest stays held until a person closes the payment. This service pays nothing. A repeat with the same arguments records nothing again.",
  annotations: repeatable,
  input: recordPayment.body.omit({ idempotencyKey: true }).extend({
    authorizationId: Id,
    outcome: z.enum(["paid", "partlyPaid"]).meta({ description: "paid: this was the last part. partlyPaid: more will come." }),
    part: z
      .string()
      .regex(/^[A-Za-z0-9_.:-]{1,64}$/, "Use 1 to 64 letters, digits and _ . : -")
      .optional()
      .meta({ description: "A name for this part, to tell it from another one of the same amount." }),
  }),
  output: z.object({
    status: z.enum(["recorded", "refused"]),
    payment: z.looseObject({ status: z.string(), paid: z.string(), open: z.string(), unit: z.string() }).optional(),
    record: z.looseObject({ recordId: z.string(), booked: z.string() }).optional(),
    repeated: repeatFields.repeated,
    next,
    problem,
  }),
  async run({ authorizationId, part, ...fields }, { call }) {
    const idempotencyKey = keyOf({ authorizationId, part: part ?? null, ...fields });
    const { body, replayed } = await call(reachable.recordPayment, { authorizationId, body: { ...fields, idempotencyKey } });
    const { payment, record } = body;
    const next = nextSteps[replayed ? "repeated" : payment.asks === "exceeded" ? "exceeded" : payment.status];
    return { content: { status: "recorded" as const, payment, record, repeated: replayed, next } };
  },
});
