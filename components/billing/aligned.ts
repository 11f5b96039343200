/** Returns a function that pads amounts to the same number of decimals, at least two, so that the figures of a column align. */
export function aligned(amounts: readonly string[]): (amount: string) => string {
  const digits = Math.max(2, ...amounts.map((amount) => amount.split(".")[1]?.length ?? 0));
  return (amount) => {
    const [whole = "0", fraction = ""] = amount.split(".");
    return `${whole}.${fraction.padEnd(digits, "0")}`;
  };
}
