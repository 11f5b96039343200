import { z } from "zod";
import { Id } from "#lib/ids.ts";
import { executing, type Seen } from "#lib/mcp/purchase/execution.ts";
import { again } from "#lib/mcp/purchase/purchase.ts";
import { Execution, next, problem, repeatFields } from "#lib/mcp/tools/shapes.ts";
import { repeatable, tool } from "#lib/mcp/tools/tool.ts";
import { follow } from "#purchase/follow.ts";
import { noFacts } from "#purchase/step.ts";

const nextStep =
  "If the answer has credentialHeaders, send them to the seller with your request. Follow the payment with get_payment. Do not pay again.";

export const executePaymentTool = tool({
  name: "execute_payment",
  title: "Pay an authorized payment",
  description:
    "Pays what authorize_payment allowed or a person approved. Send the signed x402 credential of your wallet; leave it out if the mandate is registered on the chain for this payee, then the service signs. A repeat returns the attempt that is open or paid. A new attempt is made only after a failed one.",
  annotations: repeatable,
  input: z.strictObject({
    authorizationId: Id,
    paymentCredential: z
      .string()
      .max(65_536)
      .optional()
      .meta({ description: "The PAYMENT-SIGNATURE header that your wallet signed." }),
  }),
  output: z.object({
    status: z.enum(["executed", "setupRequired", "refused"]),
    execution: Execution.optional(),
    ...repeatFields,
    next,
    problem,
  }),
  async run({ authorizationId, paymentCredential }, on) {
    const seen: Seen = {};
    const authorization = { authorizationId, policyDecision: { outcome: "allow", reasons: [] } } as const;
    const steps = executing(on, seen, () => Promise.resolve(paymentCredential));
    const { step } = await follow({ ...noFacts, authorization }, steps);
    if ("execution" in step && step.execution) {
      const repeated = !seen.isMade;
      const { execution } = step;
      return {
        content: { status: "executed" as const, execution, repeated, ...(repeated && { buyAgain: again }), next: nextStep },
      };
    }
    if (seen.refusal?.problem.code !== "credential_missing") throw seen.refusal;
    const next = "Sign the challenge in problem with your wallet, and call again with paymentCredential.";
    return { content: { status: "setupRequired" as const, problem: seen.refusal.problem, next } };
  },
});
