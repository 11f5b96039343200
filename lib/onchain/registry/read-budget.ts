import type { Hex } from "viem";
import { log } from "#lib/telemetry/log.ts";
import { formatAmount } from "#lib/money.ts";
import { assetAt } from "#lib/chains/chains.ts";
import { chainFailure, publicClient } from "#lib/chains/client.ts";
import { deploymentAt } from "#lib/onchain/registry/deployments.ts";
import { nonceOfSlot } from "#lib/onchain/registry/refusals.ts";
import type { RegistrationRow } from "#lib/onchain/registry/registration-store.ts";
import { isDelegated } from "#lib/onchain/registry/registration-chain.ts";
import { registryAbi } from "#lib/onchain/registry/registry.ts";
import { tokenAbi } from "#lib/onchain/token.ts";
import { atMost } from "#lib/time.ts";

/** Milliseconds after which a page no longer waits for the chain. */
const LIMIT_MS = 2_500;
/** The maximum number of slots of a period that a page reads: the lowest ones, which payments take first. */
const SLOTS_MAX = 64;

/** What the chain shows of a registration, without waiting for confirmations. */
export type ChainBudget = {
  readonly registered: boolean;
  readonly revoked: boolean;
  /** Whether the account delegates to the service's smart account contract. */
  readonly delegated: boolean;
  /** Payments of the current period or, for proofs, used nonces; null outside the mandate's validity. */
  readonly payments: number | null;
  /** True if not all numbered payments of the period were read, so that there may be more payments than `payments`. */
  readonly partly: boolean;
  /** Decimal text; null outside the mandate's validity, and for proofs, whose amounts the registry does not count. */
  readonly spent: string | null;
};

/** Null if the chain fails to answer in time, or if the registry counts the payments and is in a later period already. */
export async function readBudget(row: RegistrationRow, period: number | null): Promise<ChainBudget | null> {
  try {
    return await atMost(ask(row, period), LIMIT_MS, null);
  } catch (error) {
    log().warn({ failure: chainFailure(error) }, "The chain does not answer for a page");
    return null;
  }
}

async function ask(row: RegistrationRow, period: number | null): Promise<ChainBudget | null> {
  const client = publicClient(row.chain);
  const [account, onChainId] = [row.account as Hex, row.onChainId as Hex];
  const registry = { address: row.registry as Hex, abi: registryAbi, args: [account, onChainId] } as const;
  const [terms, revoked, usage, code, slots] = await Promise.all([
    client.readContract({ ...registry, functionName: "termsOf" }),
    client.readContract({ ...registry, functionName: "revoked" }),
    client.readContract({ ...registry, functionName: "usageOf" }),
    client.getCode({ address: account }),
    row.enforcementPath === 1 && period !== null ? usedSlots(row, period) : 0,
  ]);
  const deployment = deploymentAt(row.chain);
  const counted = row.enforcementPath === 2;
  // The registry returns only the sums of the newest block's period, so the sums of an earlier period are gone.
  if (counted && period !== null && usage.period > period) return null;
  const { payments, spent } = usage.period === period ? usage : { payments: 0, spent: 0n };
  const decimals = assetAt(row.chain, row.token)?.tokenDecimals ?? 0;
  return {
    registered: terms.termsHash === row.termsHash,
    revoked,
    delegated: deployment !== null && isDelegated((code ?? "").toLowerCase(), deployment),
    payments: period === null ? null : counted ? payments : slots,
    partly: !counted && row.maxPaymentsPerPeriod > SLOTS_MAX,
    spent: counted && period !== null ? formatAmount(spent, decimals) : null,
  };
}

/** Each slot has its own nonce, and the token knows the used nonces. A nonce that the account canceled counts too. */
async function usedSlots(
  { chain, token, account, onChainId, maxPaymentsPerPeriod }: RegistrationRow,
  period: number,
): Promise<number> {
  const used = await publicClient(chain).multicall({
    contracts: Array.from({ length: Math.min(maxPaymentsPerPeriod, SLOTS_MAX) }, (_, slot) => ({
      address: token as Hex,
      abi: tokenAbi,
      functionName: "authorizationState" as const,
      args: [account as Hex, nonceOfSlot(onChainId as Hex, period, slot)] as const,
    })),
    allowFailure: false,
  });
  return used.filter(Boolean).length;
}
