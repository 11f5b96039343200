import type { Address } from "viem";
import { env } from "#lib/env.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { chainFailure, publicClient } from "#lib/chains/client.ts";
import { senderOf } from "#lib/onchain/keys.ts";
import { openBySender } from "#lib/onchain/relay-store.ts";
import type { RelayKey } from "#lib/onchain/tables.ts";
import { perProcess } from "#lib/process.ts";

export type Sender = {
  readonly chain: string;
  readonly key: RelayKey;
  readonly address: Address;
  /** The balance in wei, as this process last read it; null if it was not read yet. */
  readonly balance: bigint | null;
  readonly low: boolean;
};

const WEI_IN_NANOETHER = 1_000_000_000n;

export const lowBalance = (): bigint => BigInt(Math.round(env().RELAY_LOW_BALANCE_MILLIETHER * 1e6)) * WEI_IN_NANOETHER;

const known = (): Map<string, bigint> => perProcess("onchain/senders", () => new Map());

export const senders = (): readonly Sender[] =>
  env()
    .CHAINS.filter(({ contracts }) => contracts !== undefined)
    .flatMap(({ chain }) =>
      (["relayer", "guardian"] as const).map((key) => {
        const balance = known().get(`${chain} ${key}`) ?? null;
        return { chain, key, address: senderOf(key).address, balance, low: balance !== null && balance < lowBalance() };
      }),
    );

async function readBalance({ chain, key, address, low }: Sender): Promise<void> {
  try {
    const balance = await publicClient(chain).getBalance({ address });
    known().set(`${chain} ${key}`, balance);
    metrics().relayerBalance.set({ chain, key }, Number(balance));
    if (balance < lowBalance() && !low) log().error({ chain, key, address }, "The balance for gas is low");
  } catch (error) {
    log().warn({ chain, key, reason: chainFailure(error) }, "The balance for gas could not be read");
  }
}

export async function watchSenders(): Promise<void> {
  const watched = senders();
  if (watched.length === 0) return;
  metrics().relayerLowBalance.set(Number(lowBalance()));
  const open = await openBySender();
  for (const { chain, key } of watched) {
    const waiting = open.find((one) => one.chain === chain && one.key === key);
    metrics().relayOpen.set({ chain, key, status: "queued" }, Number(waiting?.queued ?? 0));
    metrics().relayOpen.set({ chain, key, status: "sent" }, Number(waiting?.sent ?? 0));
    metrics().relayOldest.set({ chain, key }, Number(waiting?.oldestSeconds ?? 0));
  }
  await Promise.all(watched.map(readBalance));
}
