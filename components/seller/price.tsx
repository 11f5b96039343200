import { Money, money } from "#components/ui/money.tsx";
import type { Pricing } from "#lib/sellers/resource-schema.ts";

/** What one call costs. */
export const Price = ({ pricing }: { readonly pricing: Pricing }) =>
  pricing.type === "fixed" ? (
    <Money>{money(pricing.amount, pricing.asset)}</Money>
  ) : (
    <span>
      Quoted
      {pricing.maxAmount !== undefined && (
        <>
          , up to <Money>{money(pricing.maxAmount, pricing.asset)}</Money>
        </>
      )}
    </span>
  );
