import { chainOf } from "#lib/chains/chains.ts";

/** A provider has several nodes, and one can be this far behind another; `confirmations` 0 means a local chain with one node. */
const NODE_BEHIND_MS = 30_000;
const LOCAL_BEHIND_MS = 1_000;

/** For this many milliseconds after a transaction was mined, a node may still not count it. */
export const nodeBehindMs = (chain: string): number => (chainOf(chain)?.confirmations === 0 ? LOCAL_BEHIND_MS : NODE_BEHIND_MS);

/**
 * Missing numbers come first, because no chain mines a transaction while a lower nonce is missing. The newest block counts
 * `used` transactions of the signer, and transactions with the nonces `taken` may still be mined.
 */
export function freeNonces(used: number, taken: Iterable<number>, count: number): number[] {
  const known = new Set(taken);
  const free: number[] = [];
  for (let nonce = used; free.length < count; nonce += 1) if (!known.has(nonce)) free.push(nonce);
  return free;
}
