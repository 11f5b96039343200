import type { Hex } from "viem";
import { setTimeout as pause } from "node:timers/promises";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { newId } from "#lib/ids.ts";
import { relayRow, type RelayRequest } from "#lib/onchain/relay-row.ts";
import { countOpenRelays, findRelay, findRelayFor, insertRelays } from "#lib/onchain/relay-store.ts";
import { delegateOf, relayTargetOf } from "#lib/onchain/relay-target.ts";
import { relayOne } from "#lib/onchain/relay/relay-worker.ts";
import type { RelayStatus } from "#lib/onchain/tables.ts";
import { Problem } from "#lib/problem.ts";
import { countGas } from "#lib/onchain/broadcast-caps.ts";
import { atMost } from "#lib/time.ts";

/** queueRelay refuses an organization that has this many transactions of one key without a final outcome. */
const OPEN_MAX = 50;
const ASK_EVERY_MS = 100;

function requireAllowed({ purpose, chain, key, to, authorizationList = [] }: RelayRequest): void {
  const fits =
    to.toLowerCase() === relayTargetOf(purpose, chain) &&
    (key === "guardian") === (purpose === "revokeMandate") &&
    authorizationList.every(({ address }) => address.toLowerCase() === delegateOf(chain));
  if (!fits) throw new Error(`A transaction to ${to} is not one of those that are relayed.`);
}

/** Queues the same purpose and entityId once. @throws Problem rate_limited if too many wait, or at the daily limit */
export async function queueRelay(tx: Tx, request: RelayRequest): Promise<string> {
  requireAllowed(request);
  const { purpose, entityId, organizationId, key } = request;
  const known = await findRelayFor(tx, purpose, entityId);
  if (known) return known.relayId;
  if ((await countOpenRelays(tx, organizationId, key)) >= OPEN_MAX) {
    throw new Problem("rate_limited", {
      detail: "Too many transactions of this organization wait for the chain. Ask again when they are mined.",
      retryAfterSeconds: 15,
    });
  }
  if (key === "relayer" && !(await countGas(tx, organizationId))) {
    throw new Problem("rate_limited", {
      detail:
        "The transactions that the service sends for this organization, or for all, are used up for today. Ask again tomorrow.",
      retryAfterSeconds: 3_600,
    });
  }
  await insertRelays(tx, [relayRow(newId("relay"), request)]);
  const queued = await findRelayFor(tx, purpose, entityId);
  if (!queued) throw new Error("A transaction that was queued is not there.");
  return queued.relayId;
}

export type RelayResult = { readonly hash: Hex } | { readonly refused: string };

const asRelayed = (status: string, hash: string | null, failure: string | null): RelayResult | null => {
  if (status === "abandoned") return { refused: failure ?? "It was not sent." };
  return hash === null ? null : { hash: hash as Hex };
};

/**
 * Call this with no database transaction open, because it waits for the chain. Returns null if the transaction is not sent in
 * time; the worker then goes on. Raising the fees gives the transaction another hash (see relayOutcome).
 */
export async function relayNow(relayId: string, { timeoutMs }: { readonly timeoutMs: number }): Promise<RelayResult | null> {
  const deadline = performance.now() + timeoutMs;
  const attempt = sendWhenFree(relayId, deadline).catch((error: unknown) => {
    log().error({ relayId, error }, "A transaction could not be sent at once; the worker sends it later");
    return null;
  });
  return atMost(attempt, timeoutMs, null);
}

async function sendWhenFree(relayId: string, deadline: number): Promise<RelayResult | null> {
  for (;;) {
    const row = await findRelay(database(), relayId);
    if (!row) throw new Error("There is no such transaction.");
    const relayed = asRelayed(row.status, row.hash, row.failure);
    if (relayed) return relayed;
    if (performance.now() >= deadline) return null;
    if (await relayOne(row)) {
      const after = await findRelay(database(), relayId);
      return after && asRelayed(after.status, after.hash, after.failure);
    }
    await pause(ASK_EVERY_MS);
  }
}

export type RelayOutcome = {
  readonly status: RelayStatus;
  /** The hash of the newest signed bytes, or of the version that was mined. Null if the transaction is queued or abandoned. */
  readonly hash: Hex | null;
  readonly earlierHashes: readonly string[];
  readonly blockNumber: bigint | null;
  /** A sentence that says that the transaction was reverted, or why it was abandoned or last had to wait. */
  readonly failure: string | null;
};

/** If an abandoned transaction has earlierHashes, read the chain, because one of its earlier versions may have been mined. */
export async function relayOutcome(db: Database | Tx, relayId: string): Promise<RelayOutcome> {
  const row = await findRelay(db, relayId);
  if (!row) throw new Error("There is no such transaction.");
  const { status, hash, earlierHashes, blockNumber, failure } = row;
  return { status, hash, earlierHashes, blockNumber, failure } as RelayOutcome;
}
