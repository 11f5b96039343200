import type { Mandate, WindowUsage } from "#lib/mandates/mandate-schema.ts";

export const assetOf = ({ policy }: Mandate): string => policy.assets[0]?.asset ?? "";

/** The budget that runs out first: the one with the least left, of those in money. */
export const headlineOf = (mandate: Mandate): WindowUsage | undefined =>
  mandate.usage.filter(({ unit }) => unit === assetOf(mandate)).toSorted((a, b) => Number(a.available) - Number(b.available))[0];
