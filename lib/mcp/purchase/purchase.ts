import { createHash, createHmac, randomUUID } from "node:crypto";
import { canonicalJson } from "#lib/canonical-json.ts";
import { env } from "#lib/env.ts";
import { beginPurchase, useRound, type PurchaseRow } from "#lib/mcp/purchase-store.ts";
import type { ToolContext } from "#lib/mcp/tools/tool.ts";
import { Problem } from "#lib/problem.ts";

/** Without a purchaseId, a call with the same arguments is the same purchase for at least this long. */
const REPEAT_SECONDS = 600;

export type Purchase = {
  readonly row: PurchaseRow;
  /** Whether an earlier call stored the row. False for a call that continues with a requestState. */
  readonly repeated: boolean;
  /** The number of the next round, for the state that the client gets. */
  readonly round: number;
};

type Arguments = Readonly<Record<string, unknown>> & { readonly purchaseId?: string | undefined };

/** Removes undefined fields, so that a missing field and an undefined one give the same hash. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

const namesAccount = ({ intent }: Arguments): boolean =>
  (intent as { readonly payee?: unknown } | undefined)?.payee !== undefined;

/**
 * The hash contains the agent, so that no agent can continue the purchase of another one. It is stored and shown, so with the account of
 * a payee it has a key: nobody finds out the account by hashing others.
 */
function slotOf(toolName: string, args: Arguments, { caller }: ToolContext): string {
  const { organizationId, environment, subjectId } = caller;
  const hash = namesAccount(args) ? createHmac("sha256", env().API_KEY_SECRET) : createHash("sha256");
  return hash.update(canonicalJson(plain([organizationId, environment, subjectId, toolName, args]))).digest("base64url");
}

const stateRefused = (): Problem =>
  new Problem("conflict", {
    detail:
      "This requestState was used already or belongs to another call. It paid nothing. Call the tool again with the same arguments and without requestState.",
  });

/**
 * With a purchaseId, each repeat has the same idempotency key. A requestState must be for the same agent, tool, arguments and
 * current round. @throws Problem conflict
 */
export async function openPurchase(toolName: string, args: Arguments, on: ToolContext): Promise<Purchase> {
  const slot = slotOf(toolName, args, on);
  const purchaseKey = args.purchaseId === undefined ? `mcp_${randomUUID()}` : `mcp_${slot}`;
  const { organizationId } = on.caller;
  const { row, isNew } = await beginPurchase({ slot, purchaseKey, organizationId, liveSeconds: REPEAT_SECONDS });
  const { state } = on.elicitation;
  if (state === null) return { row, repeated: !isNew, round: row.round };
  const isOwn = state.slot === slot && state.purchaseKey === row.purchaseKey;
  if (!isOwn || !(await useRound({ ...state, createdAt: new Date(state.createdAt) }))) throw stateRefused();
  return { row, repeated: false, round: state.round + 1 };
}

export const again =
  "These arguments were used within the last ten minutes, so this is the same purchase and nothing was paid again. To buy again, call with another purchaseId.";

export const repeatOf = ({ repeated }: Purchase) => ({ repeated, ...(repeated && { buyAgain: again }) });
