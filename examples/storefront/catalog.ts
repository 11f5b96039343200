/** A variant of a product. Amounts are decimal USDC, as in the catalog and the quotes. */
export type Variant = {
  readonly productId: string;
  readonly variantId: string;
  readonly name: string;
  readonly color?: string;
  readonly size?: string;
  readonly unitAmount: string;
  readonly available: boolean;
};

export const variants: readonly Variant[] = [
  { productId: "mug", variantId: "mug-blue", name: "Enamel mug", color: "blue", unitAmount: "14", available: true },
  { productId: "mug", variantId: "mug-white", name: "Enamel mug", color: "white", unitAmount: "14", available: true },
  { productId: "notebook", variantId: "notebook-a5", name: "Dotted notebook", size: "A5", unitAmount: "7.5", available: true },
  { productId: "tee", variantId: "tee-m", name: "Organic T-shirt", color: "green", size: "M", unitAmount: "21", available: true },
  { productId: "tee", variantId: "tee-l", name: "Organic T-shirt", color: "green", size: "L", unitAmount: "21", available: true },
  { productId: "lamp", variantId: "lamp-brass", name: "Desk lamp", color: "brass", unitAmount: "64", available: false },
];

/** Finds the variants that contain every word of the query. */
export function search(query: string): readonly Variant[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return variants.filter((variant) => {
    const text = Object.values(variant).join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export type Wanted = {
  readonly productId?: string;
  readonly variantId?: string;
  readonly query?: string;
  readonly color?: string;
  readonly size?: string;
  readonly quantity?: number;
};

const same = (wanted: string | undefined, has: string | undefined): boolean =>
  wanted === undefined || wanted.toLowerCase() === has?.toLowerCase();

export const fitting = ({ productId, variantId, query, color, size }: Wanted): readonly Variant[] =>
  search(query ?? "").filter(
    (variant) =>
      same(productId, variant.productId) &&
      same(variantId, variant.variantId) &&
      same(color, variant.color) &&
      same(size, variant.size),
  );
