import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import { readCoin, requireBindings, requirePolicy } from "#lib/mandates/check-terms.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import { createMandate as operation } from "#lib/mandates/contract.ts";
import { presentMandate } from "#lib/mandates/present-mandate.ts";
import { findMandate, insertMandate, unknownAgents } from "#lib/mandates/store.ts";

export const createMandate: Handler<typeof operation> = async ({ body }, { caller, idempotency, requestId }) => {
  const { name, policy, agents = null, wallet = null, metadata = null } = body;
  const { asset, chain, decimals } = readCoin(policy);
  requirePolicy(policy, decimals);
  return once(operation, idempotency, async (tx) => {
    requireBindings({ policy, agents, wallet, unknown: await unknownAgents(tx, caller, agents ?? []) });
    const { organizationId, environment, subjectId } = caller;
    const mandateId = newId("mandate");
    const now = await clock(tx);
    const ceiling = compilePolicy(policy, decimals).total;
    const terms = { name, policy, agents, wallet, metadata, asset, chain, ceiling };
    await insertMandate(tx, { mandateId, organizationId, environment, ...terms, createdBy: subjectId, now });
    const event = { type: "mandate.created", actorId: subjectId, organizationId, entityType: "mandate", entityId: mandateId };
    audit(tx, { ...event, metadata: { requestId, name, version: 1 } }, now);
    const row = await findMandate(tx, caller, mandateId);
    return presentMandate(row!, [], decimals, now);
  });
};
