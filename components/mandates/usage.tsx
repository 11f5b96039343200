import { Bar } from "#components/ui/bar.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { plural } from "#components/ui/plural.ts";
import type { Mandate, WindowUsage } from "#lib/mandates/mandate-schema.ts";
import { windowWords } from "#lib/mandates/policy/words.ts";
import { headlineOf } from "./headline.ts";

const figure = (amount: string, unit: string): string =>
  unit === "payments" ? plural(Number(amount), "payment") : money(amount, unit);

export function UsageBar({ usage: { window, unit, limit, spent, reserved, available } }: { readonly usage: WindowUsage }) {
  return (
    <>
      <Bar
        limit={limit}
        parts={[
          { kind: "used", amount: spent },
          { kind: "held", amount: reserved },
        ]}
      />
      <p className="flex flex-wrap justify-between gap-x-3 text-left text-sm text-muted">
        <span>
          <strong className="font-560 text-text">
            <Money>{figure(available, unit)}</Money>
          </strong>{" "}
          left
        </span>
        <span>
          of <Money>{figure(limit, unit)}</Money> {windowWords(window)}
        </span>
      </p>
    </>
  );
}

export function MandateUsage({ mandate }: { readonly mandate: Mandate }) {
  const usage = headlineOf(mandate);
  return usage === undefined ? null : <UsageBar usage={usage} />;
}
