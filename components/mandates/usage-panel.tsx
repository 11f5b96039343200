import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import type { Mandate, WindowUsage } from "#lib/mandates/mandate-schema.ts";
import { UsageBar } from "./usage.tsx";

const plain = (amount: string, unit: string): string => (unit === "payments" ? amount : money(amount, unit));

const Figures = ({ usage: { unit, spent, reserved, end, window } }: { readonly usage: WindowUsage }) => (
  <Pairs
    items={[
      [unit === "payments" ? "Made" : "Spent", <Money key="spent">{plain(spent, unit)}</Money>],
      ...(unit === "payments" ? [] : [["Held", <Money key="held">{plain(reserved, unit)}</Money>] as const]),
      ...(end !== undefined && !window.startsWith("PT") ? [["Resets", <Moment key="end" at={end} show="short" />] as const] : []),
    ]}
  />
);

export const UsagePanel = ({ mandate }: { readonly mandate: Mandate }) => (
  <Panel id="usage" title="Used">
    <ul className="divide-y">
      {mandate.usage.map((usage) => (
        <li key={`${usage.window} ${usage.unit}`} className="grid grid-cols-1 gap-2 p-4 md:px-5">
          <UsageBar usage={usage} />
          <Figures usage={usage} />
        </li>
      ))}
    </ul>
  </Panel>
);
