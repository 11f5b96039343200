/**
 * The nonces that come next, the lowest first: a gap is filled before anything is put behind it, because no chain mines what comes after one.
 * @param used how many transactions of the signer the newest block has
 * @param taken nonces of transactions that may still be mined
 */
export function freeNonces(used: number, taken: Iterable<number>, count: number): number[] {
  const known = new Set(taken);
  const free: number[] = [];
  for (let nonce = used; free.length < count; nonce += 1) if (!known.has(nonce)) free.push(nonce);
  return free;
}
