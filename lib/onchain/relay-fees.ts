/** In wei for each unit of gas (EIP-1559). */
export type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };

/** What the newest block asks for. */
export type Market = { readonly baseFee: bigint; readonly priority: bigint };

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Nodes take a replacement from 10 % more on, some from 12.5 %. Rounded up. */
const raised = (fee: bigint): bigint => fee + (fee + 7n) / 8n;

/** Room for the base fee to double meanwhile. Null while the base fee is above the cap: then nothing would be mined. */
export function firstFees({ baseFee, priority }: Market, cap: bigint): Fees | null {
  if (baseFee > cap) return null;
  const maxFeePerGas = least(2n * baseFee + priority, cap);
  return { maxFeePerGas, maxPriorityFeePerGas: least(priority, maxFeePerGas) };
}

/** At least 12.5 % more of both, which is what makes it a replacement. Null where the cap leaves no room for that. */
export function raisedFees(before: Fees, { baseFee, priority }: Market, cap: bigint): Fees | null {
  if (raised(before.maxFeePerGas) > cap) return null;
  const tip = most(raised(before.maxPriorityFeePerGas), priority);
  const maxFeePerGas = least(most(raised(before.maxFeePerGas), 2n * baseFee + tip), cap);
  return { maxFeePerGas, maxPriorityFeePerGas: least(tip, maxFeePerGas) };
}
