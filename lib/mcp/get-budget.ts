import { z } from "zod";
import type { ToolContext } from "#lib/mcp/tool.ts";
import { Id } from "#lib/ids.ts";
import { isFor } from "#lib/mcp/judge-address.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { problem } from "#lib/mcp/shapes.ts";
import { readOnly, refused, tool } from "#lib/mcp/tool.ts";

const AT_ONCE = 20;

const Budget = z.looseObject({
  mandateId: z.string(),
  name: z.string(),
  status: z.string(),
  asset: z.looseObject({ asset: z.string(), chain: z.string() }),
  limits: z.array(
    z.looseObject({
      pointer: z.string(),
      limit: z.string(),
      used: z.string(),
      remaining: z.string(),
      resetsAt: z.string().optional(),
    }),
  ),
  approval: z.looseObject({ mode: z.string(), amount: z.string().optional() }),
});

async function namedMandates({ call }: ToolContext, mandateId: string | undefined) {
  if (mandateId === undefined) return call(reachable.listMandates, { query: { limit: String(AT_ONCE) } });
  const answer = await call(reachable.getMandate, { id: mandateId });
  return answer.ok ? { ...answer, body: { items: [answer.body], hasMore: false } } : answer;
}

export const getBudget = tool({
  name: "get_budget",
  title: "Read your budget",
  description:
    "Lists the mandates that you may pay under: for each limit the usage, what remains and when it resets, and when a person is asked. Call it first: it returns the mandateId for the other tools.",
  annotations: readOnly,
  input: z.strictObject({ mandateId: Id.optional().meta({ description: "Only this mandate." }) }),
  output: z.object({
    status: z.enum(["ok", "refused"]),
    mandates: z.array(Budget).optional(),
    more: z.boolean().optional(),
    problem,
  }),
  async run({ mandateId }, on) {
    const found = await namedMandates(on, mandateId);
    if (!found.ok) return refused(found.problem);
    const usable = found.body.items.filter((one) => one.status !== "draft" && isFor(one, on.caller));
    const read = await Promise.all(
      usable.map(async ({ mandateId: id, name }) => {
        const remaining = await on.call(reachable.getRemaining, { id });
        return remaining.ok ? { ok: true as const, budget: { name, ...remaining.body } } : remaining;
      }),
    );
    const failed = read.find((one) => !one.ok);
    if (failed && !failed.ok) return refused(failed.problem);
    return {
      content: { status: "ok" as const, mandates: read.flatMap((one) => (one.ok ? [one.budget] : [])), more: found.body.hasMore },
    };
  },
});
