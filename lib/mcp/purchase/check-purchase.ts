import { z } from "zod";
import { reachable } from "#lib/mcp/reachable.ts";
import { askedIntent, Decision, Intent, MandateId, problem } from "#lib/mcp/tools/shapes.ts";
import { readOnly, tool } from "#lib/mcp/tools/tool.ts";

export const checkPurchase = tool({
  name: "check_purchase",
  title: "Check a purchase",
  description:
    "Says whether a payment would be allowed now, and by which rules. Nothing is reserved or stored, and nobody is asked. authorize_payment decides again.",
  // The service may call the seller's own domain to ask for the price.
  annotations: { ...readOnly, openWorldHint: true },
  input: z.strictObject({ mandateId: MandateId, intent: Intent }),
  output: z.object({ status: z.enum(["ok", "refused"]), decision: Decision.optional(), problem }),
  async run({ mandateId, intent }, { call }) {
    const { body } = await call(reachable.simulateMandate, { id: mandateId, body: { intent: askedIntent(intent, undefined) } });
    if (!("decision" in body)) throw new Error("A simulation of an intent answers a decision.");
    return { content: { status: "ok" as const, decision: body.decision } };
  },
});
