/** An amount with its asset, as in "1,200.00 USDC": figure and asset never break apart. */
export function Money({ children }: { readonly children: string }) {
  const at = children.lastIndexOf(" ");
  return (
    <span className="money">
      {children.slice(0, at)} <abbr>{children.slice(at + 1)}</abbr>
    </span>
  );
}

/** Decimal text and its asset in that form, with two fraction digits at least. */
export function money(amount: string, asset: string): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${fraction.padEnd(2, "0")} ${asset}`;
}
