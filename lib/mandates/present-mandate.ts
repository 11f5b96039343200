import { compilePolicy, type CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { BucketUsage } from "#lib/mandates/policy/facts.ts";
import type { Mandate, WindowUsage } from "#lib/mandates/mandate-schema.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { remainingOf } from "#lib/mandates/policy/rules-limits.ts";
import { statusOf } from "#lib/mandates/policy/status.ts";
import { bucketCounts, windowAt, type Window } from "#lib/mandates/policy/windows.ts";
import { formatAmount, zero, type Atomic } from "#lib/money.ts";
import { toWire } from "#lib/time.ts";
import type { Environment, StoredMandateStatus } from "#lib/vocabulary.ts";

export type MandateRow = {
  readonly mandateId: string;
  readonly organizationId: string;
  readonly environment: string;
  readonly name: string;
  readonly status: string;
  readonly version: number;
  readonly policy: Policy;
  readonly asset: string;
  readonly chain: string;
  readonly agents: readonly string[] | null;
  readonly walletChain: string | null;
  readonly walletAddress: string | null;
  readonly metadata: unknown;
  readonly spent: Atomic;
  readonly reserved: Atomic;
  readonly lastHeldAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export function presentMandate(
  row: MandateRow,
  buckets: readonly (BucketUsage & { windowKey: string })[],
  decimals: number,
  now: Date,
): Mandate {
  const policy = compilePolicy(row.policy, decimals);
  const byWindow = Map.groupBy(buckets, ({ windowKey }) => windowKey);
  const { walletChain, walletAddress } = row;
  return {
    mandateId: row.mandateId,
    organizationId: row.organizationId,
    environment: row.environment as Environment,
    name: row.name,
    status: statusOf(row.status as StoredMandateStatus, policy, row, now),
    version: row.version,
    policy: row.policy,
    ...(row.agents && { agents: [...row.agents] }),
    ...(walletChain !== null && walletAddress !== null && { wallet: { chain: walletChain, address: walletAddress } }),
    usage: presentUsage(policy, row, byWindow, now),
    ...(row.metadata !== null && { metadata: row.metadata as Record<string, unknown> }),
    createdAt: toWire(row.createdAt),
    updatedAt: toWire(row.updatedAt),
  };
}

type Sums = { readonly spent: Atomic; readonly reserved: Atomic };

export function presentUsage(
  policy: CompiledPolicy,
  total: Sums,
  buckets: ReadonlyMap<string, readonly BucketUsage[]>,
  now: Date,
): WindowUsage[] {
  const usage: WindowUsage[] = [];
  if (policy.total !== null) usage.push({ window: "total", ...amounts(policy, policy.total, total) });
  for (const window of policy.windows) {
    const live = (buckets.get(window.key) ?? []).filter((bucket) => bucketCounts(bucket, now));
    usage.push(...presentWindow(policy, window, live, now));
  }
  return usage;
}

const sum = (values: readonly Atomic[]): Atomic => values.reduce<bigint>((total, value) => total + value, zero) as Atomic;

function presentWindow(policy: CompiledPolicy, window: Window, live: readonly BucketUsage[], now: Date): WindowUsage[] {
  const { start, end } = windowAt(window, now);
  const span = { window: window.key, start: toWire(start), end: toWire(end) };
  const usage: WindowUsage[] = [];
  if (window.limit !== undefined) {
    const sums = { spent: sum(live.map(({ spent }) => spent)), reserved: sum(live.map(({ reserved }) => reserved)) };
    usage.push({ ...span, ...amounts(policy, window.limit, sums) });
  }
  if (window.max !== undefined) {
    const count = live.reduce((total, { payments }) => total + payments, 0);
    const available = Math.max(0, window.max - count);
    usage.push({
      ...span,
      unit: "payments",
      limit: String(window.max),
      spent: String(count),
      reserved: "0",
      available: String(available),
    });
  }
  return usage;
}

function amounts({ asset, decimals }: CompiledPolicy, limit: Atomic, { spent, reserved }: Sums) {
  const text = (amount: Atomic) => formatAmount(amount, decimals);
  return {
    unit: asset,
    limit: text(limit),
    spent: text(spent),
    reserved: text(reserved),
    available: text(remainingOf(limit, spent, reserved)),
  };
}
