import { assetOf, configuredDecimals } from "#lib/chains/chains.ts";
import type { Handler } from "#lib/http/operation.ts";
import { stepUpLimitsOf } from "#lib/identity/members/organization-store.ts";
import { defaultStepUpLimits } from "#lib/identity/step-up-limits.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import type { getRemaining as operation } from "#lib/mandates/contract.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { presentRemaining } from "#lib/mandates/present-remaining.ts";
import { statusOf } from "#lib/mandates/policy/status.ts";
import { findMandate, liveBuckets, reading } from "#lib/mandates/store.ts";
import { notFound } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";
import type { StoredMandateStatus } from "#lib/vocabulary.ts";

export const getRemaining: Handler<typeof operation> = ({ id }, { caller }) =>
  reading(async (tx, now) => {
    const row = await findMandate(tx, caller, id);
    if (row === null) throw notFound("mandate");
    const policy = compilePolicy(row.policy, decimalsOf(row));
    const [buckets, limits] = await Promise.all([liveBuckets(tx, [id], now), stepUpLimitsOf(tx, row.organizationId)]);
    return {
      mandateId: row.mandateId,
      status: statusOf(row.status as StoredMandateStatus, policy, row, now),
      ...coinsOf(row.policy),
      limits: presentRemaining(policy, row, buckets, now),
      approval: { mode: policy.approval.mode, ...(row.policy.approval?.amount && { amount: row.policy.approval.amount }) },
      stepUp: {
        above: limits.above ?? defaultStepUpLimits.above,
        aboveUnverified: limits.aboveUnverified ?? defaultStepUpLimits.aboveUnverified,
      },
      at: toWire(now),
    };
  });

function tokenIn({ chain, asset }: Policy["assets"][number]) {
  const token = assetOf(chain, asset);
  if (token === null) return null;
  const { tokenAddress, tokenName, tokenVersion, tokenDecimals } = token;
  return { asset, chain, tokenAddress, tokenName, tokenVersion, tokenDecimals };
}

function coinsOf({ unit, assets }: Policy) {
  const [first] = assets.flatMap((one) => tokenIn(one) ?? []);
  if (unit === undefined) return { asset: first };
  // A token that is no longer configured cannot be paid in.
  const usable = assets.filter(({ chain, asset }) => configuredDecimals(chain, asset) !== null);
  return {
    unit,
    assets: usable.map((one) => ({ asset: one.asset, chain: one.chain, ...tokenIn(one), counts: one.counts ?? "0" })),
  };
}
