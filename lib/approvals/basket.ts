import { createHash } from "node:crypto";
import { canonicalJson } from "#lib/canonical-json.ts";
import { add, displayAmount, formatAmount, parseAmount, zero, type Atomic } from "#lib/money.ts";
import type { QuoteLine } from "#lib/storefront/read-quote.ts";

export type Line = {
  readonly productId: string;
  readonly variantId?: string | undefined;
  readonly name: string;
  readonly color?: string | undefined;
  readonly size?: string | undefined;
  readonly quantity: number;
  readonly unitAmount: string;
};

/** A line as it is hashed and shown; `unitAmount` is decimal text in canonical form. */
export type BasketLine = Omit<QuoteLine, "totalAmount"> & { readonly displayUnitAmount: string; readonly asset: string };

export type CanonicalBasket = {
  /** The seller's id, or an unregistered seller's domain. */
  readonly sellerId: string;
  readonly asset: string;
  readonly lines: readonly BasketLine[];
};

type Asset = { readonly asset: string; readonly tokenDecimals: number };

/** Compares by UTF-16 code units, as RFC 8785 sorts keys, so that the order is the same in every locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const inOrder = (a: BasketLine, b: BasketLine): number =>
  compare(a.productId, b.productId) ||
  compare(a.variantId ?? "", b.variantId ?? "") ||
  // Compare the content, so that the basket's hash does not depend on the storefront's order of lines of the same variant.
  compare(canonicalJson(a), canonicalJson(b));

/** The result does not depend on the storefront's order of lines and spelling of amounts. */
export function canonicalBasket(sellerId: string, { asset, tokenDecimals }: Asset, lines: readonly Line[]): CanonicalBasket {
  const canonical = lines.map(({ productId, variantId, name, color, size, quantity, unitAmount }): BasketLine => {
    const unit = parseAmount(unitAmount, tokenDecimals);
    return {
      productId,
      ...(variantId !== undefined && { variantId }),
      name,
      ...(color !== undefined && { color }),
      ...(size !== undefined && { size }),
      quantity,
      unitAmount: formatAmount(unit, tokenDecimals),
      displayUnitAmount: displayAmount(unit, tokenDecimals, asset),
      asset,
    };
  });
  return { sellerId, asset, lines: canonical.toSorted(inOrder) };
}

/** The SHA-256 in hexadecimal of the RFC 8785 text. */
export const basketHash = (basket: CanonicalBasket): string => createHash("sha256").update(canonicalJson(basket)).digest("hex");

export const lineAmount = ({ unitAmount, quantity }: Pick<BasketLine, "unitAmount" | "quantity">, decimals: number): Atomic =>
  (parseAmount(unitAmount, decimals) * BigInt(quantity)) as Atomic;

export const basketAmount = ({ lines }: CanonicalBasket, decimals: number): Atomic =>
  lines.reduce((sum, line) => add(sum, lineAmount(line, decimals)), zero);
