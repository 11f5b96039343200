import { env } from "#lib/env.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { openBySender } from "#lib/onchain/relay-store.ts";
import { senderOn } from "#lib/settlement/sender.ts";
import { oldestWaiting } from "#lib/settlement/transaction-store.ts";

/** A chain puts a transaction that pays its fees into one of the next blocks. */
const STUCK_SECONDS = 20;

/** For each chain, how many seconds its oldest settlement waits for a block, or none could be sent. */
async function waitingByChain(): Promise<ReadonlyMap<string, number>> {
  const waiting = new Map((await oldestWaiting()).map(({ chain, seconds }) => [chain, Number(seconds)] as const));
  return new Map(
    env().CHAINS.map(({ chain }) => [chain, Math.max(waiting.get(chain) ?? 0, senderOn(chain).failingSeconds)] as const),
  );
}

/** For the metrics. */
export async function watchSettlements(): Promise<void> {
  for (const [chain, seconds] of await waitingByChain()) metrics().settlementWaiting.set({ chain }, seconds);
}

/** False where a queue of transactions, settled or relayed, does not move. */
export async function settlementsGoOn(): Promise<boolean> {
  const [settled, relayed] = await Promise.all([waitingByChain(), openBySender()]);
  const seconds = [...settled.values(), ...relayed.map(({ waitingSeconds }) => Number(waitingSeconds))];
  return seconds.every((one) => one < STUCK_SECONDS);
}
