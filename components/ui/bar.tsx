import { Money, money } from "./money.tsx";

export type BarPart = {
  /** `held` is reserved and drawn striped; `this` is the payment on the page; `over` exceeds the limit. */
  readonly kind: "used" | "held" | "this" | "over";
  readonly amount: string;
};

const fills = {
  used: "bg-bar-used",
  held: "bg-[repeating-linear-gradient(90deg,var(--color-bar-used)_0_2px,var(--color-bar-track)_2px_4px)]",
  this: "bg-accent",
  over: "bg-danger",
} as const;

/** The width of a part of the bar. Never compute amounts with this width, because floating-point numbers are inexact. */
const share = (part: string, whole: string): string =>
  `${Math.min(100, Math.max(0, (Number(part) / Number(whole)) * 100 || 0))}%`;

type BarProps = { readonly parts: readonly BarPart[]; readonly limit: string; readonly large?: boolean };

/** Hidden from screen readers, so show the figures next to the bar as text or in a BarKey. */
export function Bar({ parts, limit, large = false }: BarProps) {
  return (
    <div
      className={`flex gap-0.5 overflow-hidden rounded-xs bg-bar-track ${large ? "mb-3 h-3.5" : "h-2.5 in-[.ledger]:mb-1"}`}
      aria-hidden
    >
      {parts.map(
        ({ kind, amount }) =>
          Number(amount) > 0 && (
            <span key={kind} className={`min-w-0.5 ${fills[kind]}`} style={{ flex: `0 0 ${share(amount, limit)}` }} />
          ),
      )}
    </div>
  );
}

type Entry = {
  readonly kind: "used" | "held" | "this" | "left";
  readonly name: string;
  readonly amount: string;
  /** Shown instead of the amount. */
  readonly text?: string;
};

const keys = {
  used: "before:bg-bar-used",
  held: "before:bg-[repeating-linear-gradient(90deg,var(--color-bar-used)_0_2px,var(--color-bar-track)_2px_4px)]",
  this: "*:font-semibold before:bg-accent **:text-accent",
  left: "before:bg-bar-track before:inset-ring before:inset-ring-border-strong",
} as const;

export function BarKey({ entries, unit }: { readonly entries: readonly Entry[]; readonly unit: string }) {
  return (
    <dl className="grid grid-cols-[auto_1fr_auto] items-baseline gap-x-2 gap-y-1 text-sm">
      {entries.map(({ kind, name, amount, text }) => (
        <div className={`contents before:h-2.5 before:w-3 before:self-center before:rounded-[1px] ${keys[kind]}`} key={kind}>
          <dt className="col-start-2 text-muted">{name}</dt>
          <dd className="text-right">{text ?? <Money>{money(amount, unit)}</Money>}</dd>
        </div>
      ))}
    </dl>
  );
}
