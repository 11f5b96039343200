import { audit } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import { configuredDecimals } from "#lib/chains/chains.ts";
import { liveUsage, suspendActive, usageAndPolicy } from "#lib/holds/hold-store.ts";

/** Ignores limits on the number of payments. False if the token is no longer configured. */
async function breaksCap(tx: Tx, mandateId: string): Promise<boolean> {
  const row = await usageAndPolicy(tx, mandateId);
  const decimals = row && configuredDecimals(row.chain, row.asset);
  if (!row || decimals === null) return false;
  const policy = compilePolicy(row.policy, decimals);
  if (policy.total !== null && row.spent + row.reserved > policy.total) return true;
  const used = await liveUsage(tx, mandateId);
  return policy.windows.some(({ key, limit }) => limit !== undefined && (used.get(key) ?? 0n) > limit);
}

type Mandate = { readonly mandateId: string; readonly organizationId: string };

/** More was paid than was held. It counts; an active mandate whose limit it exceeds is suspended. Returns whether it was. `isUncounted`: what was paid cannot be counted in it. */
export async function suspendIfBroken(
  tx: Tx,
  { mandateId, organizationId }: Mandate,
  reason: string,
  now: Date,
  isUncounted = false,
): Promise<boolean> {
  const suspended = (isUncounted || (await breaksCap(tx, mandateId))) && (await suspendActive(tx, mandateId));
  const event = { actorId: "service", organizationId, entityType: "mandate", entityId: mandateId, metadata: { reason } };
  if (suspended) audit(tx, { ...event, type: "mandate.suspended" }, now);
  return suspended;
}
