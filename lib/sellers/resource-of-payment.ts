import type { Pricing } from "#lib/sellers/resource-schema.ts";

export type PayableResource = {
  readonly sellerId: string;
  readonly resourceId: string;
  readonly pathTemplate: string;
  readonly pricing: Pricing;
};

/** Whether a path fits a template: `/reports/today` fits `/reports/{date}`. */
export function fitsTemplate(path: string, template: string): boolean {
  const given = path.split("/");
  const wanted = template.split("/");
  return given.length === wanted.length && wanted.every((segment, at) => segment.startsWith("{") || segment === given[at]);
}

type Claim = {
  /** The URL is not signed, so it is used only to find which of the seller's own resources was paid. */
  readonly url: string | undefined;
  /** Decimal text. */
  readonly amount: string;
};

/** Null if none or several fit. A quoted price fits every amount; without a valid URL, only the price must fit. */
export function resourceOfPayment(candidates: readonly PayableResource[], { url, amount }: Claim): PayableResource | null {
  const path = url === undefined ? null : (URL.parse(url)?.pathname ?? null);
  const fits = candidates.filter(
    ({ pathTemplate, pricing }) =>
      (pricing.type === "quoted" || pricing.amount === amount) && (path === null || fitsTemplate(path, pathTemplate)),
  );
  return fits.length === 1 ? (fits[0] ?? null) : null;
}
