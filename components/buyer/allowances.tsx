import Link from "next/link";
import { assetOf, headlineOf } from "#components/mandates/headline.ts";
import { MandateUsage } from "#components/mandates/usage.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { asksWhen } from "#lib/mandates/summary.ts";

const capital = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}.`;

/** The remaining budget of each mandate. */
export const Allowances = ({ mandates }: { readonly mandates: readonly Mandate[] }) => (
  <ul className="allowances">
    {mandates.map((mandate) => {
      const held = headlineOf(mandate);
      return (
        <li key={mandate.mandateId}>
          <h3>
            <Link href={`/mandates/${mandate.mandateId}`}>
              <Untrusted>{mandate.name}</Untrusted>
            </Link>
            <StatusBadge of="mandate" status={mandate.status} />
          </h3>
          <MandateUsage mandate={mandate} />
          <p className="small muted">
            {held && Number(held.reserved) > 0 && (
              <>
                <Money>{money(held.reserved, held.unit)}</Money> held.{" "}
              </>
            )}
            {capital(asksWhen(mandate.policy, assetOf(mandate)))}
          </p>
        </li>
      );
    })}
  </ul>
);
