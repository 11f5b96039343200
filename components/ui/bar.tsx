import { Money, money } from "./money.tsx";

export type BarPart = {
  /** `held` is striped; `this` is the payment on the page; `over` exceeds the limit. */
  readonly kind: "used" | "held" | "this" | "over";
  /** Decimal text. */
  readonly amount: string;
};

/** Only for the widths of the bar. Never compute amounts with it. */
const share = (part: string, whole: string): string =>
  `${Math.min(100, Math.max(0, (Number(part) / Number(whole)) * 100 || 0))}%`;

type BarProps = { readonly parts: readonly BarPart[]; readonly limit: string; readonly large?: boolean };

/**
 * How much of a limit is used. Hidden from screen readers, so show the figures next to it as text or in a BarKey.
 *
 *     <Bar limit="250" parts={[{ kind: "used", amount: "106.4" }, { kind: "held", amount: "12" }]} />
 */
export function Bar({ parts, limit, large = false }: BarProps) {
  return (
    <div className={large ? "bar bar-large" : "bar"} aria-hidden>
      {parts.map(
        ({ kind, amount }) =>
          Number(amount) > 0 && <span key={kind} className={kind} style={{ flex: `0 0 ${share(amount, limit)}` }} />,
      )}
    </div>
  );
}

type Entry = {
  readonly kind: "used" | "held" | "this" | "left";
  readonly name: string;
  /** Decimal text. */
  readonly amount: string;
  /** Shown instead of the amount, if the entry has no amount. */
  readonly text?: string;
};

/**
 * The figures of a bar, each with its pattern.
 *
 *     <BarKey unit="USDC" entries={[{ kind: "used", name: "Used", amount: "106.4" }, { kind: "left", name: "Remaining", amount: "143.6" }]} />
 */
export function BarKey({ entries, unit }: { readonly entries: readonly Entry[]; readonly unit: string }) {
  return (
    <dl className="bar-key">
      {entries.map(({ kind, name, amount, text }) => (
        <div className={kind} key={kind}>
          <dt>{name}</dt>
          <dd>{text ?? <Money>{money(amount, unit)}</Money>}</dd>
        </div>
      ))}
    </dl>
  );
}
