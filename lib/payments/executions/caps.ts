import type { Tx } from "#lib/db/client.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import { configuredDecimals } from "#lib/chains/chains.ts";
import { liveUsage, usageAndPolicy } from "#lib/holds/hold-store.ts";

/** Ignores limits on the number of payments. False if the token is no longer configured. */
export async function breaksCap(tx: Tx, mandateId: string): Promise<boolean> {
  const row = await usageAndPolicy(tx, mandateId);
  const decimals = row && configuredDecimals(row.chain, row.asset);
  if (!row || decimals === null) return false;
  const policy = compilePolicy(row.policy, decimals);
  if (policy.total !== null && row.spent + row.reserved > policy.total) return true;
  const used = await liveUsage(tx, mandateId);
  return policy.windows.some(({ key, limit }) => limit !== undefined && (used.get(key) ?? 0n) > limit);
}
