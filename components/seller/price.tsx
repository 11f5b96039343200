import { Money, money } from "#components/ui/money.tsx";
import type { Pricing } from "#lib/sellers/resource-schema.ts";

export const Price = ({ pricing, digits }: { readonly pricing: Pricing; readonly digits?: number }) =>
  pricing.type === "fixed" ? (
    <Money>{money(pricing.amount, pricing.asset, digits)}</Money>
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
