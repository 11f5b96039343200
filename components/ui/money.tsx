export function Money({ children }: { readonly children: string }) {
  const at = children.lastIndexOf(" ");
  return (
    <span className="money">
      {children.slice(0, at)} <abbr>{children.slice(at + 1)}</abbr>
    </span>
  );
}

/** Formats decimal text and its asset like "1,200.00 USDC", with at least `digits` fraction digits. */
export function money(amount: string, asset: string, digits = 2): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${fraction.padEnd(digits, "0")} ${asset}`;
}

export const columnDigits = (amounts: readonly string[]): number =>
  Math.max(2, ...amounts.map((amount) => amount.split(".")[1]?.length ?? 0));
