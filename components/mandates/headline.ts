import type { Mandate, WindowUsage } from "#lib/mandates/mandate-schema.ts";

export const assetOf = ({ policy }: Mandate): string => policy.assets[0]?.asset ?? "";

/** Returns the limit in the mandate's asset of which the smallest amount is left; undefined if there is no such limit. */
export const headlineOf = (mandate: Mandate): WindowUsage | undefined =>
  mandate.usage.filter(({ unit }) => unit === assetOf(mandate)).toSorted((a, b) => Number(a.available) - Number(b.available))[0];
