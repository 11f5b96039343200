import { readAmount } from "#lib/money.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";

/* The products of the sample sellers. Pure and browser-safe. */

export type Sample = {
  readonly id: string;
  readonly title: string;
  readonly amount: string;
  /** The URL in the seller's 402; its host name is reserved for examples (RFC 2606). */
  readonly url: string;
  readonly path: `/api/sandbox/${string}`;
};

export const weather: Sample = {
  id: "forecast",
  title: "A weather forecast",
  amount: "0.002",
  url: "https://weather.example.com/v1/forecast",
  path: "/api/sandbox/forecast",
};

/** The products of the sample shop, the cheapest first. */
export const goods: readonly [Sample, ...Sample[]] = [
  {
    id: "stickers",
    title: "A pack of stickers",
    amount: "0.75",
    url: "https://shop.example.com/items/stickers",
    path: "/api/sandbox/stickers",
  },
  {
    id: "mug",
    title: "An enamel mug",
    amount: "12",
    url: "https://shop.example.com/items/mug",
    path: "/api/sandbox/mug",
  },
];

export const samples: readonly Sample[] = [weather, ...goods];

const DIGITS = 18;
const atomic = (text: string | undefined): bigint => {
  const read = readAmount(text ?? "", DIGITS);
  return read.ok ? read.amount : 0n;
};

/** The cheapest product within the limit per payment for which the mandate asks a person; if there is none, the cheapest. */
export function askedSample({ approval, limits }: Pick<Policy, "approval" | "limits">): Sample {
  const fits = ({ amount }: Sample): boolean => atomic(amount) <= atomic(limits.perPayment);
  const asks = ({ amount }: Sample): boolean => {
    if (approval === undefined || approval.mode === "never") return false;
    return approval.mode !== "above" || atomic(amount) > atomic(approval.amount);
  };
  return goods.find((one) => fits(one) && asks(one)) ?? goods[0];
}
