import type { z } from "zod";
import { assetAt, assetOf, type AssetOnChain } from "#lib/chains/chains.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import { formatAmount } from "#lib/money.ts";
import type * as contract from "#lib/settlement/contract.ts";
import {
  placeOfPayment,
  selectReceivedExecutions,
  selectReceivedSettlements,
  type ReceivedFilter,
  type ReceivedRow,
  type Scope,
} from "#lib/settlement/received-store.ts";
import { toWire } from "#lib/time.ts";
import { SettlementStatus } from "#lib/vocabulary.ts";

/** The fields of a payment that its seller may see. They contain neither the mandate nor the agent nor the buyer's notes. */
export type ReceivedPayment = z.output<typeof contract.Settlement>;

type Coin = Pick<ReceivedRow, "chain" | "asset" | "tokenAddress">;

/** @throws Error if the configuration no longer contains the asset */
export function coinOf({ chain, asset, tokenAddress }: Coin): AssetOnChain {
  const found = tokenAddress === null ? assetOf(chain ?? "", asset ?? "") : assetAt(chain ?? "", tokenAddress);
  if (!found) throw new Error(`The configuration no longer names ${asset ?? tokenAddress} on ${chain}.`);
  return found;
}

function present(row: ReceivedRow): ReceivedPayment {
  const { tokenDecimals, asset, chain } = coinOf(row);
  const { settlementId, sellerId, resourceId, transaction, payer, nonce, handedOver } = row;
  return {
    settlementId,
    createdAt: toWire(row.createdAt),
    sellerId,
    resourceId,
    amount: formatAmount(row.amount ?? 0n, tokenDecimals),
    asset,
    chain,
    status: SettlementStatus.parse(row.status),
    transaction,
    payer,
    nonce,
    handedOver,
  };
}

type Query = ReceivedFilter & { readonly cursor?: string | undefined; readonly limit: number };

/** The payments to this organization, in every status, with or without a mandate of the buyer. @throws Problem invalid_request */
export async function readReceived(scope: Scope, { cursor, limit, ...filter }: Query) {
  const which = { place: decodeCursor(cursor), limit: limit + 1 };
  const rows: ReceivedRow[] = [
    ...(await selectReceivedExecutions(database(), scope, filter, which)),
    ...(await selectReceivedSettlements(database(), scope, filter, which)),
  ];
  const newestFirst = rows.toSorted((a, b) => (placeOfPayment(a) < placeOfPayment(b) ? 1 : -1)).slice(0, limit + 1);
  const { items, ...rest } = page(newestFirst, limit, placeOfPayment);
  return { items: items.map(present), ...rest };
}

export const listSettlements: Handler<typeof contract.listSettlements> = async ({ query }, { caller }) => {
  const { nonce, ...filter } = query;
  return readReceived(caller, { ...filter, nonce: nonce?.toLowerCase() });
};
