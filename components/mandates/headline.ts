import { tightest } from "#components/checkout/tightest.ts";
import type { Mandate, WindowUsage } from "#lib/mandates/mandate-schema.ts";

export const assetOf = ({ policy }: Mandate): string => policy.unit ?? policy.assets[0]?.asset ?? "";

export const headlineOf = (mandate: Mandate): WindowUsage | undefined =>
  tightest({ budgets: mandate.usage, asset: assetOf(mandate) });
