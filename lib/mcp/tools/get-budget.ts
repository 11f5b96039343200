import { z } from "zod";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import type { ToolContext } from "#lib/mcp/tools/tool.ts";
import { Id } from "#lib/ids.ts";
import { isFor } from "#lib/mcp/purchase/judge-address.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { problem } from "#lib/mcp/tools/shapes.ts";
import { readOnly, tool } from "#lib/mcp/tools/tool.ts";

const AT_ONCE = 20;
const PAGE = 100;
const PAGES_MAX = 10;

const Budget = z.looseObject({
  mandateId: z.string(),
  name: z.string(),
  status: z.string(),
  asset: z.looseObject({ asset: z.string(), chain: z.string() }).optional(),
  unit: z.string().optional(),
  assets: z.array(z.looseObject({ asset: z.string(), chain: z.string(), counts: z.string() })).optional(),
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
    const { items, nextCursor } = (await on.call(reachable.listMandates, { query })).body;
    own.push(...items.filter((one) => isUsable(one, on)));
    cursor = nextCursor;
    if (cursor === undefined || own.length >= AT_ONCE || pages === PAGES_MAX)
      return { own: own.slice(0, AT_ONCE), more: cursor !== undefined || own.length > AT_ONCE };
  }
}

async function namedMandate(on: ToolContext, mandateId: string) {
  const { body } = await on.call(reachable.getMandate, { id: mandateId });
  return { own: [body].filter((one) => isUsable(one, on)), more: false };
}

export const getBudget = tool({
  name: "get_budget",
  title: "Read your budget",
  description:
    "Lists the mandates that you may pay under: for each limit the usage, what remains and when it resets, and when a person is asked. With `unit`, the limits are in that currency, and `assets` says what you may pay in and what one whole asset counts as. Call it first: it returns the mandateId for the other tools.",
  annotations: readOnly,
  input: z.strictObject({ mandateId: Id.optional().meta({ description: "Only this mandate." }) }),
  output: z.object({
    status: z.enum(["ok", "refused"]),
    mandates: z.array(Budget).optional(),
    more: z.boolean().optional(),
    problem,
  }),
  async run({ mandateId }, on) {
    const { own, more } = mandateId === undefined ? await ownMandates(on) : await namedMandate(on, mandateId);
    const mandates = await Promise.all(
      own.map(async ({ mandateId: id, name }) => ({ name, ...(await on.call(reachable.getRemaining, { id })).body })),
    );
    return { content: { status: "ok" as const, mandates, more } };
  },
});
