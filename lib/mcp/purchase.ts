import { createHash, randomUUID } from "node:crypto";
import { canonicalJson } from "#lib/canonical-json.ts";
import { beginPurchase, useRound, type PurchaseRow } from "#lib/mcp/purchase-store.ts";
import type { ToolContext } from "#lib/mcp/tool.ts";
import { Problem } from "#lib/problem.ts";

/** A call with the same arguments is a repeat for this time. */
const REPEAT_SECONDS = 600;

export type Purchase = {
  readonly row: PurchaseRow;
  /** Whether an earlier call with the same arguments began this purchase, and this call is not the next round of that call. */
  readonly repeated: boolean;
  /** The round of the next requestState. */
  readonly round: number;
};

type Arguments = Readonly<Record<string, unknown>> & { readonly purchaseId?: string | undefined };

/** Arguments come from JSON, where a missing field and an undefined one are the same. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

/** The hash of the agent, the tool and the arguments, so no agent continues the purchase of another one. */
function slotOf(toolName: string, args: Arguments, { caller }: ToolContext): string {
  const { organizationId, environment, subjectId } = caller;
  return createHash("sha256")
    .update(canonicalJson(plain([organizationId, environment, subjectId, toolName, args])))
    .digest("base64url");
}

const stateRefused = (): Problem =>
  new Problem("conflict", {
    detail:
      "This requestState was used already or belongs to another call. Nothing was paid by it. Call the tool again with the same arguments and without requestState.",
  });

/**
 * The purchase of these arguments: the live one, or a new one. The agent names no idempotency key: it is random, or follows from the
 * purchaseId, with which a repeat is the same purchase for good. A requestState is checked against agent, tool and arguments, and used up.
 * @throws Problem conflict
 */
export async function openPurchase(toolName: string, args: Arguments, on: ToolContext): Promise<Purchase> {
  const slot = slotOf(toolName, args, on);
  const purchaseKey = args.purchaseId === undefined ? `mcp_${randomUUID()}` : `mcp_${slot}`;
  const { organizationId } = on.caller;
  const { row, isNew } = await beginPurchase({ slot, purchaseKey, organizationId, liveSeconds: REPEAT_SECONDS });
  const { state } = on.elicitation;
  if (state === null) return { row, repeated: !isNew, round: row.round };
  const isOwn = state.slot === slot && state.purchaseKey === row.purchaseKey;
  if (!isOwn || !(await useRound(row, state.round))) throw stateRefused();
  return { row, repeated: false, round: state.round + 1 };
}

/** What a repeated answer says about buying again. */
export const again =
  "These arguments were used within the last ten minutes, so this is the same purchase and nothing was paid again. To buy again, call with another purchaseId.";

export const repeatOf = ({ repeated }: Purchase) => ({ repeated, ...(repeated && { buyAgain: again }) });
