import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import type * as contract from "#lib/sellers/contract.ts";
import { presentSeller } from "#lib/sellers/present.ts";
import { pageOfSellers } from "#lib/sellers/store.ts";

export const listSellers: Handler<typeof contract.listSellers> = async ({ query: { limit, cursor } }, { caller }) => {
  const rows = await pageOfSellers(database(), caller, decodeCursor(cursor), limit + 1);
  const { items, ...rest } = page(rows, limit, ({ sellerId }) => sellerId);
  return { items: items.map(presentSeller), ...rest };
};
