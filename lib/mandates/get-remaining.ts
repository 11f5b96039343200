import { assetOf } from "#lib/chains/chains.ts";
import type { Handler } from "#lib/http/operation.ts";
import { stepUpLimitsOf } from "#lib/identity/members/organization-store.ts";
import { defaultStepUpLimits } from "#lib/identity/step-up-limits.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { getRemaining as operation } from "#lib/mandates/contract.ts";
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
    const asset = assetOf(row.chain, row.asset);
    if (asset === null) throw new Error(`${row.asset} on ${row.chain} is no longer configured, but a mandate pays in it.`);
    const { chain, tokenAddress, tokenName, tokenVersion, tokenDecimals } = asset;
    const policy = compilePolicy(row.policy, tokenDecimals);
    const [buckets, limits] = await Promise.all([liveBuckets(tx, [id], now), stepUpLimitsOf(tx, row.organizationId)]);
    return {
      mandateId: row.mandateId,
      status: statusOf(row.status as StoredMandateStatus, policy, row, now),
      asset: { asset: row.asset, chain, tokenAddress, tokenName, tokenVersion, tokenDecimals },
      limits: presentRemaining(policy, row, buckets, now),
      approval: { mode: policy.approval.mode, ...(row.policy.approval?.amount && { amount: row.policy.approval.amount }) },
      stepUp: {
        above: limits.above ?? defaultStepUpLimits.above,
        aboveUnverified: limits.aboveUnverified ?? defaultStepUpLimits.aboveUnverified,
      },
      at: toWire(now),
    };
  });
