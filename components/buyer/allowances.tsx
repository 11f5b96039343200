import Link from "next/link";
import { assetOf, headlineOf } from "#components/mandates/headline.ts";
import { MandateUsage } from "#components/mandates/usage.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { asksWhen } from "#lib/mandates/draft/summary.ts";

const capital = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}.`;

export const Allowances = ({ mandates }: { readonly mandates: readonly Mandate[] }) => (
  <ul className="divide-y">
    {mandates.map((mandate) => {
      const held = headlineOf(mandate);
      return (
        <li key={mandate.mandateId} className="grid grid-cols-1 gap-2 p-4 md:px-5">
          <h3 className="flex flex-wrap items-center justify-between gap-2">
            <Link
              className="min-w-0 wrap-anywhere text-text no-underline decoration-auto hover:underline"
              href={`/mandates/${mandate.mandateId}`}
            >
              <Untrusted>{mandate.name}</Untrusted>
            </Link>
            <StatusBadge of="mandate" status={mandate.status} />
          </h3>
          <MandateUsage mandate={mandate} />
          <p className="text-sm text-muted">
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
