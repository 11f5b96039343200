import { z } from "zod";
import { AskedIntent } from "#lib/payment-intent.ts";
import { Id } from "#lib/ids.ts";
import { ProblemOf } from "#lib/mcp/tools/tool.ts";

/** A loose object names only the fields that an agent needs for its decisions, and passes other fields on unchanged. */

export const MandateId = Id.meta({ description: "The mandate that pays. get_budget lists them." });

export const PurchaseId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,64}$/, "Use 1 to 64 letters, digits and _ . : -")
  .optional()
  .meta({
    description:
      "A name for the purchase. Leave it out for a first purchase; to buy the same thing again within ten minutes, send a new one. Never change it to repeat a call whose answer was lost or that waits for a person.",
  });

export const Purpose = z
  .string()
  .min(1)
  .max(140)
  .optional()
  .meta({ description: "What the payment is for, for a person who is asked." });

export const Intent = AskedIntent.omit({
  intentId: true,
  nonce: true,
  idempotencyKey: true,
  createdAt: true,
  expiresAt: true,
  metadata: true,
}).meta({
  id: "McpIntent",
  description:
    "The payment. For a registered seller send sellerId and resourceId; otherwise send payTo, and the seller's 402 as challenge. For what you pay by other means, such as an invoice by transfer: paymentChallengeType record, a currency of the mandate's assets with its chain (USD, iso4217:USD), the seller's id or name, its account as payee if you know it, and the number of the invoice as reference.",
});

const INTENT_MS = 3_600_000;

export const askedIntent = (intent: z.output<typeof Intent>, purpose: string | undefined) => ({
  ...intent,
  ...(purpose !== undefined && { metadata: { purpose } }),
  expiresAt: new Date(Date.now() + INTENT_MS).toISOString(),
});

export const Decision = z
  .looseObject({
    outcome: z.string(),
    denialCode: z.string().optional(),
    reasons: z.array(z.looseObject({ code: z.string(), effect: z.string(), message: z.string() })),
  })
  .meta({ description: "The decision under the mandate, with each rule: allow, deny, or requireApproval." });

export const Execution = z
  .looseObject({
    executionId: z.string(),
    settlementStatus: z.string(),
    credentialHeaders: z.record(z.string(), z.string()).optional(),
  })
  .meta({ description: "The attempt to pay. If it has credentialHeaders, send them to the seller." });

export const repeatFields = {
  repeated: z.boolean().optional().meta({ description: "Whether this answers an earlier call with the same arguments." }),
  buyAgain: z.string().optional(),
};

export const waitingFields = {
  approvalUrl: z.string().optional().meta({ description: "The page where a person decides. Show it to them." }),
  expiresAt: z.string().optional(),
  pollWith: z.string().optional().meta({ description: "The tool that returns the state of the request." }),
  autoResumes: z
    .boolean()
    .optional()
    .meta({ description: "Whether the same call continues this purchase after the approval, instead of beginning another one." }),
  authorizationId: z.string().optional(),
  checkoutIntentId: z.string().optional(),
};

export const next = z.string().optional().meta({ description: "What to do now." });
export const problem = ProblemOf.optional();
