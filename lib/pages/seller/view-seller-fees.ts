import { clock } from "#lib/audit/transact.ts";
import { feeDecimals } from "#lib/billing/present.ts";
import { selectSellerFees, sumSellerFees } from "#lib/pages/seller/seller-fees-store.ts";
import { database } from "#lib/db/client.ts";
import { decodeCursor, page, type Page } from "#lib/http/paging.ts";
import { formatAmount } from "#lib/money.ts";
import { toWire } from "#lib/time.ts";

/** Amounts are decimal text. */
export type SellerFee = {
  readonly feeId: string;
  readonly createdAt: string;
  readonly amount: string;
  readonly asset: string;
  /** Null if no settled payment to this organization belongs to the fee, or if that payment has no resource. */
  readonly resourceId: string | null;
  /** Null if no settled payment to this organization belongs to the fee. */
  readonly paid: string | null;
};

export type DueFees = { readonly asset: string; readonly chain: string; readonly amount: string; readonly fees: number };

const textOf = (amount: bigint, { chain, asset }: { readonly chain: string; readonly asset: string }): string =>
  formatAmount(amount, feeDecimals(chain, asset));

type Query = { readonly cursor?: string | undefined; readonly limit: number };

/** Newest first. @throws Problem invalid_request for an invalid cursor */
export async function viewSellerFees(organizationId: string, { cursor, limit }: Query): Promise<Page<SellerFee>> {
  const rows = await selectSellerFees(database(), organizationId, decodeCursor(cursor), limit + 1);
  const { items, ...rest } = page(rows, limit, ({ feeId }) => feeId);
  const fees = items.map((row) => ({
    feeId: row.feeId,
    createdAt: toWire(row.createdAt),
    amount: textOf(row.amount, row),
    asset: row.asset,
    resourceId: row.resourceId,
    paid: row.paid === null ? null : textOf(row.paid, row),
  }));
  return { ...rest, items: fees };
}

/** Since the start of this UTC month, by asset and chain. */
export async function viewDueSellerFees(organizationId: string): Promise<readonly DueFees[]> {
  const now = await clock(database());
  const month = new Date(`${now.toISOString().slice(0, 7)}-01T00:00:00.000Z`);
  const rows = await sumSellerFees(database(), organizationId, month);
  return rows.map(({ asset, chain, amount, fees }) => ({ asset, chain, fees, amount: textOf(BigInt(amount), { asset, chain }) }));
}
