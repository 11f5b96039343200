import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import type { Mandate, WindowUsage } from "#lib/mandates/mandate-schema.ts";
import type { MandateView } from "#lib/pages/buyer/view-mandate.ts";
import type { Rail } from "#lib/vocabulary.ts";
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

const RailUse = ({ spent, reserved, unit }: MandateView["rails"][number] & { readonly unit: string }) => (
  <>
    <Money>{money(spent, unit)}</Money>
    {Number(reserved) > 0 && (
      <span className="block text-muted">
        <Money>{money(reserved, unit)}</Money> held
      </span>
    )}
  </>
);

const names: Readonly<Record<Rail, string>> = { x402: "By x402", record: "Made elsewhere", card: "By card" };

type Props = { readonly mandate: Mandate } & Pick<MandateView, "rails">;

export const UsagePanel = ({ mandate, rails }: Props) => (
  <Panel id="usage" title="Used">
    <ul className="divide-y">
      {mandate.usage.map((usage) => (
        <li key={`${usage.window} ${usage.unit}`} className="grid grid-cols-1 gap-2 p-4 md:px-5">
          <UsageBar usage={usage} />
          <Figures usage={usage} />
        </li>
      ))}
      {rails.length > 0 && (
        <li className="grid grid-cols-1 gap-2 p-4 md:px-5">
          <h3 className="text-sm">Since it was made, by rail</h3>
          <Pairs
            items={rails.map((one) => [names[one.rail], <RailUse key={one.rail} {...one} unit={mandate.policy.unit ?? ""} />])}
          />
        </li>
      )}
    </ul>
  </Panel>
);
