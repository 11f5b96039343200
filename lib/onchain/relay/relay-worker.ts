import { clock } from "#lib/audit/store.ts";
import { database } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { chainOf } from "#lib/chains/chains.ts";
import { chainFailure, isChainError } from "#lib/chains/client.ts";
import { followRelay } from "#lib/onchain/relay/relay-follow.ts";
import { extendLease, underLease, type Lease } from "#lib/onchain/relay-lease-store.ts";
import { NotSent, sendQueued } from "#lib/onchain/relay/relay-send.ts";
import { abandon, dueQueued, dueSenders, dueSent, postponeRelay, type RelayRow } from "#lib/onchain/relay-store.ts";
import type { RelayKey } from "#lib/onchain/tables.ts";

const BATCH = 16;
const WAIT_MS = 2_000;
const WAIT_MS_MAX = 60_000;

/** Returns the number of pairs of a key and a configured chain that had due transactions. */
export async function relay(): Promise<number> {
  const senders = (await dueSenders()).filter(({ chain }) => chainOf(chain) !== null);
  await Promise.all(senders.map(({ chain, key }) => underLease(chain, key, (lease) => workOff(chain, key, lease))));
  return senders.length;
}

/** Sent transactions come first, because a queued one usually gets a higher nonce and is then mined only after them. */
async function workOff(chain: string, key: RelayKey, lease: Lease): Promise<void> {
  for (const sent of await dueSent(chain, key, BATCH)) {
    if (!(await extendLease(lease))) return;
    if (!(await attempt(sent, async () => followRelay(sent, lease, await clock(database()))))) return;
  }
  for (const row of await dueQueued(chain, key, BATCH)) {
    if (!(await extendLease(lease))) return;
    if (!(await attempt(row, () => sendQueued(row, lease)))) return;
  }
}

/** False if another holder has the key's lease. True does not mean that the transaction was sent: its row tells that. */
export async function relayOne(row: RelayRow): Promise<boolean> {
  const tried = await underLease(row.chain, row.key, (lease) => attempt(row, () => sendQueued(row, lease)));
  return tried !== null;
}

const waitMs = ({ attempts }: RelayRow): number => Math.min(WAIT_MS_MAX, WAIT_MS * 2 ** Math.min(attempts, 6));

/** Returns false after an error of the chain; then the caller does not try the other transactions now. */
async function attempt(row: RelayRow, work: () => Promise<void>): Promise<boolean> {
  const { relayId, chain, purpose } = row;
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof NotSent && error.final) {
      if (await abandon(relayId, error.message)) metrics().relayed.inc({ purpose, status: "abandoned" });
      return true;
    }
    if (error instanceof NotSent) {
      log().error({ relayId, chain, reason: error.message }, "A transaction cannot be sent yet");
      await postponeRelay(relayId, waitMs(row), error.message);
      return true;
    }
    if (!isChainError(error)) throw error;
    log().warn({ relayId, chain, reason: chainFailure(error) }, "The chain does not answer; a transaction waits");
    await postponeRelay(relayId, waitMs(row), "The chain does not answer.");
    return false;
  }
}
