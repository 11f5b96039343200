import { z } from "zod";
import { AmountText } from "#lib/amount-text.ts";
import { add, formatAmount, readAmount, zero, type Atomic } from "#lib/money.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import type { FieldError } from "#lib/problem.ts";
import { AssetSymbol } from "#lib/evm.ts";
import { findings, SellerId, SellerText } from "#lib/storefront/seller-text.ts";
import { Timestamp } from "#lib/time.ts";

export type AskedItem = {
  readonly productId?: string | undefined;
  readonly variantId?: string | undefined;
  readonly query?: string | undefined;
  readonly color?: string | undefined;
  readonly size?: string | undefined;
  readonly quantity?: number | undefined;
};

const Line = z.object({
  productId: SellerId,
  variantId: SellerId.optional(),
  name: SellerText(200).pipe(z.string().min(1)),
  color: SellerText(60).optional(),
  size: SellerText(60).optional(),
  quantity: z.int().min(1).max(10_000),
  unitAmount: AmountText,
  totalAmount: AmountText.optional(),
  asset: AssetSymbol.optional(),
});

const QuoteBody = z.object({
  quoteId: SellerId,
  sellerId: z.string().max(128).optional(),
  resourceId: z.string().max(128).optional(),
  amount: AmountText,
  asset: AssetSymbol,
  items: z.array(Line).min(1).max(100),
  expiresAt: Timestamp,
  quoteHash: z.string().max(128).optional(),
});

export type QuoteLine = {
  readonly productId: string;
  readonly variantId?: string;
  readonly name: string;
  readonly color?: string;
  readonly size?: string;
  readonly quantity: number;
  readonly unitAmount: string;
  readonly totalAmount: string;
};

export type Quote = {
  readonly quoteId: string;
  readonly amount: Atomic;
  readonly asset: AssetOnChain;
  /** In the order in which the agent asked for the items. */
  readonly lines: readonly QuoteLine[];
  /** As the server states it, or computed for a plain x402 API. The database's clock decides whether it has passed. */
  readonly expiresAt: Date;
  readonly quoteHash: string | null;
};

export type ReadQuote =
  | { readonly ok: true; readonly quote: Quote }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

export type ExpectedQuote = {
  readonly asset: AssetOnChain;
  readonly sellerId: string | null;
  readonly resourceId: string | null;
  readonly items: readonly AskedItem[];
};

type Refuse = (pointer: string, detail: string) => void;
type Body = z.output<typeof QuoteBody>;

const same = (asked: string | undefined, said: string | undefined): boolean => asked === undefined || asked === said;
export const alike = (asked: string | undefined, said: string | undefined): boolean =>
  asked === undefined || asked.trim().toLowerCase() === said?.toLowerCase();

function compareLine(asked: AskedItem, line: Body["items"][number], at: string, refuse: Refuse): void {
  if (!same(asked.productId, line.productId)) refuse(`${at}/productId`, `${asked.productId} was asked for.`);
  if (!same(asked.variantId, line.variantId)) refuse(`${at}/variantId`, `${asked.variantId} was asked for.`);
  if (!alike(asked.color, line.color)) refuse(`${at}/color`, `${asked.color} was asked for.`);
  if (!alike(asked.size, line.size)) refuse(`${at}/size`, `${asked.size} was asked for.`);
  const quantity = asked.quantity ?? 1;
  if (line.quantity !== quantity) refuse(`${at}/quantity`, `${quantity} were asked for.`);
}

function readLine(
  line: Body["items"][number],
  asset: AssetOnChain,
  at: string,
  refuse: Refuse,
): { line: QuoteLine; total: Atomic } {
  const { totalAmount, asset: said, unitAmount, quantity, productId, variantId, name, color, size } = line;
  if (!same(said, asset.asset)) refuse(`${at}/asset`, `The storefront is paid in ${asset.asset}.`);
  const unit = readAmount(unitAmount, asset.tokenDecimals);
  if (!unit.ok) refuse(`${at}/unitAmount`, unit.detail);
  const total = ((unit.ok ? unit.amount : 0n) * BigInt(quantity)) as Atomic;
  if (totalAmount !== undefined) {
    const sum = readAmount(totalAmount, asset.tokenDecimals);
    if (!sum.ok) refuse(`${at}/totalAmount`, sum.detail);
    else if (sum.amount !== total) refuse(`${at}/totalAmount`, "This is not the quantity times the unit amount.");
  }
  const read: QuoteLine = {
    productId,
    ...(variantId !== undefined && { variantId }),
    name,
    ...(color !== undefined && { color }),
    ...(size !== undefined && { size }),
    quantity,
    unitAmount: formatAmount(unit.ok ? unit.amount : 0n, asset.tokenDecimals),
    totalAmount: formatAmount(total, asset.tokenDecimals),
  };
  return { line: read, total };
}

/** Requires one line per asked item, in the same order, and amounts that add up exactly. */
export function readQuote(json: unknown, { asset, sellerId, resourceId, items }: ExpectedQuote): ReadQuote {
  const parsed = QuoteBody.safeParse(json);
  if (!parsed.success) return { ok: false, errors: findings(parsed.error) };
  const body = parsed.data;
  const errors: FieldError[] = [];
  const refuse: Refuse = (pointer, detail) => errors.push({ pointer, detail });
  if (body.asset !== asset.asset) refuse("/asset", `The storefront is paid in ${asset.asset}.`);
  if (sellerId !== null && !same(body.sellerId, sellerId)) refuse("/sellerId", "The manifest names another seller.");
  if (resourceId !== null && !same(body.resourceId, resourceId)) refuse("/resourceId", "The manifest names another resource.");
  if (body.items.length !== items.length) refuse("/items", `${items.length} items were asked for, one line each.`);
  const lines = body.items.map((line, index) => {
    const asked = items[index];
    if (asked) compareLine(asked, line, `/items/${index}`, refuse);
    return readLine(line, asset, `/items/${index}`, refuse);
  });
  const amount = readAmount(body.amount, asset.tokenDecimals);
  if (!amount.ok) refuse("/amount", amount.detail);
  else if (amount.amount === 0n) refuse("/amount", "An order of nothing needs no payment.");
  else if (lines.reduce((sum, { total }) => add(sum, total), zero) !== amount.amount)
    refuse("/amount", "This is not the sum of the lines.");
  if (errors.length > 0 || !amount.ok) return { ok: false, errors };
  const { quoteId, expiresAt, quoteHash } = body;
  return {
    ok: true,
    quote: {
      quoteId,
      amount: amount.amount,
      asset,
      lines: lines.map(({ line }) => line),
      expiresAt: new Date(expiresAt),
      quoteHash: quoteHash ?? null,
    },
  };
}
