import type { LineView } from "#lib/approvals/checkout-view.ts";

const spans: Readonly<Record<string, string>> = {
  total: "in all",
  day: "a day",
  week: "a week",
  month: "a month",
  PT1H: "in an hour",
  PT24H: "in 24 hours",
};

/** The time span of a limit in words, without its time zone: "a month", as in "250.00 USDC a month". */
export function spanName(window: string): string {
  const [key = window] = window.split(" ");
  return spans[key] ?? `in ${key.replace(/^PT(\d+)H$/, "$1 hours").replace(/^PT(\d+)M$/, "$1 minutes")}`;
}

export function duration(seconds: number): string {
  if (seconds >= 3_600) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return seconds >= 60 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${seconds} s`;
}

export const lineKey = ({ productId, variantId, color, size, name }: LineView): string =>
  [productId, variantId, color, size, name].join("|");

/** A long domain with its middle removed. The end stays, because it says whose domain it is. */
export const shortDomain = (domain: string, most: number): string =>
  domain.length <= most ? domain : `${domain.slice(0, 8)}…${domain.slice(9 - most)}`;
