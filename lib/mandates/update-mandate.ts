import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/http/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decimalsOf, requireBindings, requirePolicy } from "#lib/mandates/check-terms.ts";
import { compilePolicy, type CompiledPolicy } from "#lib/mandates/compile-policy.ts";
import { updateMandate as operation } from "#lib/mandates/contract.ts";
import type { Policy } from "#lib/mandates/policy-schema.ts";
import { presentMandate, type MandateRow } from "#lib/mandates/present-mandate.ts";
import { findMandate, liveBuckets, lockMandate, saveVersion, unknownAgents } from "#lib/mandates/store.ts";
import { fillWindow, setCeilings } from "#lib/mandates/window-store.ts";
import { atomicOf, max } from "#lib/money.ts";
import { invalidField, notFound, Problem } from "#lib/problem.ts";

export const updateMandate: Handler<typeof operation> = ({ id, body }, { caller, idempotency, requestId }) =>
  once(operation, idempotency, async (tx) => {
    const old = await lockMandate(tx, caller, id);
    if (old === null) throw notFound("mandate");
    if (old.status === "revoked")
      throw new Problem("conflict", { detail: "This mandate was revoked and can no longer be changed." });
    const decimals = decimalsOf(old);
    const policy = body.policy ?? old.policy;
    requireSameCoin(old, policy);
    requirePolicy(policy, decimals);
    const terms = { name: body.name ?? old.name, ...bindings(old, body) };
    const unknown = await unknownAgents(tx, caller, body.agents ?? []);
    requireBindings({ chain: old.chain, agents: body.agents ?? null, wallet: body.wallet ?? null, unknown });

    const now = await clock(tx);
    const next = compilePolicy(policy, decimals);
    const version = old.version + 1;
    await saveVersion(tx, id, { ...terms, version, policy, ceiling: ceilingOf(next, old), createdBy: caller.subjectId, now });
    await setCeilings(tx, id, next.windows, now);
    const before = new Set(compilePolicy(old.policy, decimals).windows.map(({ key }) => key));
    for (const window of next.windows) if (!before.has(window.key)) await fillWindow(tx, id, window, now);

    const event = { type: "mandate.versioned", actorId: caller.subjectId, entityType: "mandate", entityId: id };
    const changed = Object.keys(body).toSorted();
    audit(tx, { ...event, organizationId: caller.organizationId, metadata: { requestId, version, changed } }, now);
    const row = await findMandate(tx, caller, id);
    return presentMandate(row!, await liveBuckets(tx, [id], now), decimals, now);
  });

/** What was spent is counted in the asset, so a mandate keeps it for life. */
function requireSameCoin(old: MandateRow, { assets: [coin] }: Policy): void {
  if (coin?.asset === old.asset && coin.chain === old.chain) return;
  throw invalidField("/policy/assets/0", `This mandate pays in ${old.asset} on ${old.chain} for life. Make another mandate.`);
}

/** Left out: as it was. Null: none. */
function bindings(old: MandateRow, { agents, wallet }: Parameters<typeof updateMandate>[0]["body"]) {
  const { walletChain, walletAddress } = old;
  const oldWallet = walletChain === null || walletAddress === null ? null : { chain: walletChain, address: walletAddress };
  return { agents: agents === undefined ? old.agents : agents, wallet: wallet === undefined ? oldWallet : wallet };
}

/** What was used stays legal when a limit is lowered; the policy compares with the limit. */
const ceilingOf = ({ total }: CompiledPolicy, { spent, reserved }: MandateRow) =>
  total === null ? null : max(total, atomicOf(spent + reserved));
