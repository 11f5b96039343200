import { audit, clock } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { decimalsOf, requireBindings, requirePolicy, requireSameCoin } from "#lib/mandates/check-terms.ts";
import { compilePolicy, type CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import { updateMandate as operation } from "#lib/mandates/contract.ts";
import { presentMandate, type MandateRow } from "#lib/mandates/present-mandate.ts";
import { letMandatePay } from "#lib/mandates/lifecycle/let-mandate-pay.ts";
import { refuseOpen } from "#lib/mandates/lifecycle/refuse-open.ts";
import { findMandate, liveBuckets, lockOwnMandate, saveVersion, unknownAgents, type Scope } from "#lib/mandates/store.ts";
import { fillWindow, setCeilings } from "#lib/mandates/window-store.ts";
import { widens } from "#lib/mandates/lifecycle/widens.ts";
import { atomicOf, max } from "#lib/money.ts";
import { notFound, Problem } from "#lib/problem.ts";

export const updateMandate: Handler<typeof operation> = ({ id, body }, { caller, idempotency, requestId }) =>
  once(operation, idempotency, async (tx) => {
    const { cancelOpen = false, ...changes } = body;
    // Canceling takes locks in the order of an approval: in another order, the two requests could wait for each other.
    if (cancelOpen) await enterGate(tx);
    await requireStillHeld(tx, caller, "mandates:manage");
    const old = await lockOwnMandate(tx, caller, id);
    if (old === null) throw notFound("mandate");
    if (old.status === "revoked")
      throw new Problem("conflict", { detail: "This mandate was revoked and can no longer be changed." });
    const by = { ...caller, requestId };
    if (Object.keys(changes).length > 0) await saveNext(tx, old, changes, by);
    const saved = await findMandate(tx, caller, id);
    const refused = await refuseOpen(tx, saved!, cancelOpen, by);
    const now = await clock(tx);
    const row = await findMandate(tx, caller, id);
    const presented = presentMandate(row!, await liveBuckets(tx, [id], now), decimalsOf(old), now);
    return { ...presented, ...(refused && { openRefused: refused }) };
  });

type Changes = Omit<Parameters<typeof updateMandate>[0]["body"], "cancelOpen">;
type By = Scope & { readonly subjectId: string; readonly userId: string; readonly sessionId: string; readonly requestId: string };

/** @throws Problem invalid_request, step_up_required */
async function saveNext(tx: Tx, old: MandateRow, changes: Changes, by: By): Promise<void> {
  const { mandateId } = old;
  const decimals = decimalsOf(old);
  const policy = changes.policy ?? old.policy;
  requireSameCoin(old, policy);
  requirePolicy(policy, decimals);
  const terms = { name: changes.name ?? old.name, ...bindings(old, changes) };
  const unknown = await unknownAgents(tx, by, changes.agents ?? []);
  requireBindings({ policy, agents: changes.agents ?? null, wallet: terms.wallet, unknown });

  const [next, was] = [compilePolicy(policy, decimals), compilePolicy(old.policy, decimals)];
  // A draft or suspended mandate gives no rights, so the request that activates or resumes it asks for the proof.
  const isInForce = old.status === "active";
  const version = old.version + 1;
  if (isInForce && widens({ ...terms, policy: next }, { ...bindings(old, {}), policy: was })) {
    const { agents, wallet } = terms;
    await letMandatePay(tx, by, old, policy, ["updateMandate", { version, policy, agents, wallet }]);
  }
  const now = await clock(tx);
  await saveVersion(tx, mandateId, { ...terms, version, policy, ceiling: ceilingOf(next, old), createdBy: by.subjectId, now });
  await setCeilings(tx, mandateId, next.windows, now);
  const before = new Set(was.windows.map(({ key }) => key));
  for (const window of next.windows) if (!before.has(window.key)) await fillWindow(tx, mandateId, window, now);

  const event = { type: "mandate.versioned", actorId: by.subjectId, entityType: "mandate", entityId: mandateId };
  const changed = Object.keys(changes).toSorted();
  audit(tx, { ...event, organizationId: by.organizationId, metadata: { requestId: by.requestId, version, changed } }, now);
}

/** An omitted field keeps its value; null removes it. */
function bindings(old: MandateRow, { agents, wallet }: Changes) {
  const { walletChain, walletAddress } = old;
  const oldWallet = walletChain === null || walletAddress === null ? null : { chain: walletChain, address: walletAddress };
  return { agents: agents === undefined ? old.agents : agents, wallet: wallet === undefined ? oldWallet : wallet };
}

/** Earlier payments may exceed a lowered total, so the database's bound is then their sum; null without a total. */
const ceilingOf = ({ total }: CompiledPolicy, { spent, reserved }: MandateRow) =>
  total === null ? null : max(total, atomicOf(spent + reserved));
