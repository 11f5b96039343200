import { listedReply, type Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import type * as contract from "#lib/identity/keys/contract.ts";
import { presentServiceAccount } from "#lib/identity/keys/present-service-account.ts";
import { listLiveServiceAccounts } from "#lib/identity/keys/service-account-store.ts";

export const listServiceAccounts: Handler<typeof contract.listServiceAccounts> = async (
  { query: { limit, cursor } },
  { caller: { organizationId, environment } },
) => {
  const place = decodeCursor(cursor);
  const rows = await listLiveServiceAccounts({ organizationId, environment, place, rows: limit + 1 });
  const { items, nextCursor } = page(rows, limit, (row) => row.serviceAccountId);
  return listedReply({ items: items.map(presentServiceAccount) }, nextCursor ?? null);
};
