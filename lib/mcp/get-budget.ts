import { z } from "zod";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import type { ToolContext } from "#lib/mcp/tool.ts";
import { Id } from "#lib/ids.ts";
import { isFor } from "#lib/mcp/judge-address.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { problem } from "#lib/mcp/shapes.ts";
import { readOnly, refused, tool } from "#lib/mcp/tool.ts";

const AT_ONCE = 20;
const PAGE = 100;
const PAGES_MAX = 10;

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

const isUsable = (mandate: Mandate, on: ToolContext): boolean => mandate.status !== "draft" && isFor(mandate, on.caller);

/** Reads several pages, because an organization can have many mandates for other agents. */
async function ownMandates(on: ToolContext) {
  const own: Mandate[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const query = { limit: String(PAGE), ...(cursor !== undefined && { cursor }) };
    const answer = await on.call(reachable.listMandates, { query });
    if (!answer.ok) return answer;
    own.push(...answer.body.items.filter((one) => isUsable(one, on)));
    cursor = answer.body.nextCursor;
    if (cursor === undefined || own.length >= AT_ONCE || pages === PAGES_MAX)
      return { ok: true as const, own: own.slice(0, AT_ONCE), more: cursor !== undefined || own.length > AT_ONCE };
  }
}

async function namedMandate(on: ToolContext, mandateId: string) {
  const answer = await on.call(reachable.getMandate, { id: mandateId });
  return answer.ok ? { ok: true as const, own: [answer.body].filter((one) => isUsable(one, on)), more: false } : answer;
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
    const found = mandateId === undefined ? await ownMandates(on) : await namedMandate(on, mandateId);
    if (!found.ok) return refused(found.problem);
    const read = await Promise.all(
      found.own.map(async ({ mandateId: id, name }) => {
        const remaining = await on.call(reachable.getRemaining, { id });
        return remaining.ok ? { ok: true as const, budget: { name, ...remaining.body } } : remaining;
      }),
    );
    const failed = read.find((one) => !one.ok);
    if (failed && !failed.ok) return refused(failed.problem);
    return {
      content: { status: "ok" as const, mandates: read.flatMap((one) => (one.ok ? [one.budget] : [])), more: found.more },
    };
  },
});
