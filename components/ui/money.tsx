const GROUPS = /\B(?=(\d{3})+$)/g;

type Props = { readonly amount: string; readonly asset: string; readonly digits?: number };

/** A decimal amount and its asset, which never break apart. `digits` is the least number of fraction digits. */
export function Money({ amount, asset, digits = 2 }: Props) {
  const [whole = "0", fraction = ""] = amount.split(".");
  return (
    <span className="money">
      {whole.replace(GROUPS, ",")}.{fraction.padEnd(digits, "0")} <abbr>{asset}</abbr>
    </span>
  );
}
