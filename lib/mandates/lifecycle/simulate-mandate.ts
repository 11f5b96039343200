import type { Tx } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decimalsOf, requirePolicy, requireSameCoin } from "#lib/mandates/check-terms.ts";
import { compilePolicy, type CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { simulateMandate as operation } from "#lib/mandates/contract.ts";
import type { MandateFacts, Usage } from "#lib/mandates/policy/facts.ts";
import { firstPayments, selectDecisions } from "#lib/holds/past-payment-store.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import { backtest } from "#lib/payments/refusals/backtest.ts";
import { findMandate, reading } from "#lib/mandates/store.ts";
import { bucketsFromAuthorizations, lifetimeFromAuthorizations } from "#lib/mandates/window-store.ts";
import { zero } from "#lib/money.ts";
import { nameIntent } from "#lib/payments/name-intent.ts";
import { wantedOf } from "#lib/holds/past-facts.ts";
import { simulatePayment } from "#lib/payments/simulate-payment.ts";
import { notFound } from "#lib/problem.ts";
import { seenBefore } from "#lib/sellers/seen-offer-store.ts";
import { tokenOf } from "#lib/chains/chains.ts";

export const simulateMandate: Handler<typeof operation> = async ({ id, body }, { caller, requestId }) => {
  if ("policy" in body) return { items: await reading((tx) => simulatePolicy(tx, caller, id, body.policy, body.last)) };
  const mandate = await reading((tx) => findMandate(tx, caller, id));
  if (mandate === null) throw notFound("mandate");
  const { organizationId, environment, subjectId, kind } = caller;
  // A mandate that names agents denies every person, so a person's simulation runs as the first of its agents.
  const [agent] = kind === "session" ? (mandate.agents ?? []) : [];
  const asker = agent === undefined ? { kind, subjectId } : { kind: "key" as const, subjectId: agent };
  const intent = nameIntent(body.intent, body.intent.idempotencyKey ?? requestId);
  const decision = await simulatePayment({ organizationId, environment, asker, mandateId: id, intent, requestId });
  return { decision: { ...decision, reasons: [...decision.reasons] } };
};

type Scope = Parameters<typeof findMandate>[1];

/** Results are newest first. @throws Problem not_found, invalid_request */
export async function simulatePolicy(tx: Tx, scope: Scope, mandateId: string, policy: Policy, last: number) {
  const mandate = await findMandate(tx, scope, mandateId);
  if (mandate === null) throw notFound("mandate");
  requireSameCoin(mandate, policy);
  const decimals = decimalsOf(mandate);
  requirePolicy(policy, decimals);
  const compiled = compilePolicy(policy, decimals);
  const past = (await selectDecisions(tx, mandateId, last)).toReversed();
  const [first] = past;
  if (first === undefined) return [];
  const usage = await usageUntil(tx, mandateId, compiled, new Date(first.createdAt.getTime() - 1));
  const byDomain = (compiled.domains?.allow ?? null) !== null;
  const seen = byDomain
    ? await seenBefore(
        tx,
        past.map((one) => wantedOf(one, tokenOf)),
      )
    : [];
  const compared = backtest(factsOf(mandate, compiled), past, usage, await firstPayments(tx, mandateId), seen);
  return compared.toReversed().map((one) => ({ ...one, reasons: [...one.reasons] }));
}

const factsOf = ({ mandateId, version }: MandateRow, policy: CompiledPolicy): MandateFacts => ({
  mandateId,
  status: "active",
  version: version + 1,
  policy,
  agents: null,
});

async function usageUntil(tx: Tx, mandateId: string, policy: CompiledPolicy, at: Date): Promise<Usage> {
  const { used, lastHeldAt } = await lifetimeFromAuthorizations(tx, mandateId, at);
  const buckets: Usage["buckets"] = new Map();
  for (const window of policy.windows) buckets.set(window.key, await bucketsFromAuthorizations(tx, mandateId, window, at));
  return { spent: zero, reserved: used, lastHeldAt, buckets };
}
