import type * as contract from "#lib/billing/contract.ts";
import { presentFee } from "#lib/billing/present.ts";
import { selectFees } from "#lib/billing/store.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";

export const listFees: Handler<typeof contract.listFees> = async ({ query }, { caller }) => {
  const rows = await selectFees(database(), caller.organizationId, decodeCursor(query.cursor), query.limit + 1);
  const { items, ...rest } = page(rows, query.limit, (row) => row.feeId);
  return { items: items.map(presentFee), ...rest };
};
