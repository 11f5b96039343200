/** An amount with its asset, as in "1,200.00 USDC": figure and asset never break apart. */
export function Money({ children }: { readonly children: string }) {
  const at = children.lastIndexOf(" ");
  return (
    <span className="money">
      {children.slice(0, at)} <abbr>{children.slice(at + 1)}</abbr>
    </span>
  );
}

/** Decimal text and its asset in that form, with two fraction digits at least, or as many as its column has. */
export function money(amount: string, asset: string, digits = 2): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${fraction.padEnd(digits, "0")} ${asset}`;
}

/** How many fraction digits a column of these amounts shows: one column has one number of them. */
export const columnDigits = (amounts: readonly string[]): number =>
  Math.max(2, ...amounts.map((amount) => amount.split(".")[1]?.length ?? 0));
