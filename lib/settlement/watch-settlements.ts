import { env } from "#lib/env.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { openBySender } from "#lib/onchain/relay-store.ts";
import { senderOn } from "#lib/settlement/sender.ts";
import { oldestWaiting } from "#lib/settlement/transaction-store.ts";

/** A chain mines a transaction with sufficient fees within a few blocks; one that waits longer than this is stuck. */
const STUCK_SECONDS = 20;

/** Per chain, how many seconds the oldest settlement has waited for a block, or for how long no settlement could be sent. */
async function waitingByChain(): Promise<ReadonlyMap<string, number>> {
  const waiting = new Map((await oldestWaiting()).map(({ chain, seconds }) => [chain, Number(seconds)] as const));
  return new Map(
    env().CHAINS.map(({ chain }) => [chain, Math.max(waiting.get(chain) ?? 0, senderOn(chain).failingSeconds)] as const),
  );
}

/** Writes the waiting times to the metrics. */
export async function watchSettlements(): Promise<void> {
  for (const [chain, seconds] of await waitingByChain()) metrics().settlementWaiting.set({ chain }, seconds);
}

/** False if a transaction of a settlement or a relay is stuck. */
export async function settlementsGoOn(): Promise<boolean> {
  const [settled, relayed] = await Promise.all([waitingByChain(), openBySender()]);
  const seconds = [...settled.values(), ...relayed.map(({ waitingSeconds }) => Number(waitingSeconds))];
  return seconds.every((one) => one < STUCK_SECONDS);
}
