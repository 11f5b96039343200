import { z } from "zod";
import { Id } from "#lib/ids.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { problem } from "#lib/mcp/tools/shapes.ts";
import { repeatable, tool } from "#lib/mcp/tools/tool.ts";

export const cancel = tool({
  name: "cancel",
  title: "Cancel a request",
  description:
    "Cancels a request of yours that waits for a person, or for which nothing was paid yet. Its reserved amount is released. A repeat changes nothing.",
  annotations: repeatable,
  input: z.strictObject({ checkoutIntentId: Id.meta({ description: "From the answer that asked for the approval." }) }),
  output: z.object({
    status: z.enum(["canceled", "refused"]),
    checkout: z.looseObject({ checkoutIntentId: z.string(), status: z.string() }).optional(),
    problem,
  }),
  async run({ checkoutIntentId }, { call }) {
    const { body } = await call(reachable.cancelCheckout, { checkoutIntentId, body: {} });
    return { content: { status: "canceled" as const, checkout: body.intent } };
  },
});
