/** The fees of a transaction, in wei per unit of gas (EIP-1559). */
export type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };

/** The base fee of the newest block, and the priority fee that the node suggests. */
export type Market = { readonly baseFee: bigint; readonly priority: bigint };

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** 12.5 % more, rounded up, because some nodes accept a replacement only if its fees are 12.5 % higher. */
const raised = (fee: bigint): bigint => fee + (fee + 7n) / 8n;

/** Enough until the base fee has doubled, but at most `cap`. Null while the base fee is above `cap`. */
export function firstFees({ baseFee, priority }: Market, cap: bigint): Fees | null {
  if (baseFee > cap) return null;
  const maxFeePerGas = least(2n * baseFee + priority, cap);
  return { maxFeePerGas, maxPriorityFeePerGas: least(priority, maxFeePerGas) };
}

/** Both fees are at least 12.5 % higher, so that nodes accept the replacement. Null if they would exceed `cap`. */
export function raisedFees(sent: Fees, { baseFee, priority }: Market, cap: bigint): Fees | null {
  if (raised(sent.maxFeePerGas) > cap) return null;
  const tip = most(raised(sent.maxPriorityFeePerGas), priority);
  const maxFeePerGas = least(most(raised(sent.maxFeePerGas), 2n * baseFee + tip), cap);
  return { maxFeePerGas, maxPriorityFeePerGas: least(tip, maxFeePerGas) };
}
