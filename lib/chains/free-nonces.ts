import { chainOf } from "#lib/chains/chains.ts";

/** Milliseconds that a provider's node may be behind another node. A local chain has only one node, but may be restarted as a new one. */
const NODE_BEHIND_MS = 30_000;
const LOCAL_BEHIND_MS = 1_000;

/** How many milliseconds after a transaction was mined a node may not count it yet. */
export const nodeBehindMs = (chain: string): number => (chainOf(chain)?.confirmations === 0 ? LOCAL_BEHIND_MS : NODE_BEHIND_MS);

/**
 * The next free nonces, lowest first. Gaps are filled first, because no chain mines a transaction after a gap.
 * @param used how many transactions of the signer the newest block has
 * @param taken nonces of transactions that may still be mined
 */
export function freeNonces(used: number, taken: Iterable<number>, count: number): number[] {
  const known = new Set(taken);
  const free: number[] = [];
  for (let nonce = used; free.length < count; nonce += 1) if (!known.has(nonce)) free.push(nonce);
  return free;
}
