import { env } from "#lib/env.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { openBySender } from "#lib/onchain/relay-store.ts";
import { senderOn } from "#lib/settlement/sending/sender.ts";
import { oldestWaiting } from "#lib/settlement/transaction-store.ts";

/** A transaction with high enough fees is usually mined sooner. */
const STUCK_SECONDS = 20;

/** Seconds for which a chain's oldest transaction has waited for a block, or this process could send none, if longer. */
async function waitingByChain(): Promise<ReadonlyMap<string, number>> {
  const waiting = new Map((await oldestWaiting()).map(({ chain, seconds }) => [chain, Number(seconds)] as const));
  return new Map(
    env().CHAINS.map(({ chain }) => [chain, Math.max(waiting.get(chain) ?? 0, senderOn(chain).failingSeconds)] as const),
  );
}

export async function watchSettlements(): Promise<void> {
  for (const [chain, seconds] of await waitingByChain()) metrics().settlementWaiting.set({ chain }, seconds);
}

/** Whether no settlement has waited too long to be sent or mined, and no relayed transaction to be mined. */
export async function noSettlementIsStuck(): Promise<boolean> {
  const [settled, relayed] = await Promise.all([waitingByChain(), openBySender()]);
  const seconds = [...settled.values(), ...relayed.map(({ waitingSeconds }) => Number(waitingSeconds))];
  return seconds.every((one) => one < STUCK_SECONDS);
}
