import type { Pricing } from "#lib/sellers/resource-schema.ts";

export type PayableResource = {
  readonly sellerId: string;
  readonly resourceId: string;
  readonly pathTemplate: string;
  readonly pricing: Pricing;
};

/** Whether a path is one of a template's: `/reports/{date}` has `/reports/today`. */
export function fitsTemplate(path: string, template: string): boolean {
  const given = path.split("/");
  const wanted = template.split("/");
  return given.length === wanted.length && wanted.every((segment, at) => segment.startsWith("{") || segment === given[at]);
}

const pathOf = (url: string | undefined): string | null =>
  url !== undefined && URL.canParse(url) ? new URL(url).pathname : null;

type Paid = {
  /** What the credential says that it pays for; a seller's word, used to sort its own payments and for nothing else. */
  readonly url: string | undefined;
  /** Decimal text. */
  readonly amount: string;
};

/** The one of these resources that a payment to their address is for; null where it may be several. */
export function paidResource(candidates: readonly PayableResource[], { url, amount }: Paid): PayableResource | null {
  const path = pathOf(url);
  const fits = candidates.filter(
    ({ pathTemplate, pricing }) =>
      (pricing.type === "quoted" || pricing.amount === amount) && (path === null || fitsTemplate(path, pathTemplate)),
  );
  return fits.length === 1 ? (fits[0] ?? null) : null;
}
