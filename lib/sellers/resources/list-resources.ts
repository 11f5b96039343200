import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import type * as contract from "#lib/sellers/contract.ts";
import { presentListed } from "#lib/sellers/present.ts";
import { listLiveResources, placeOfResource } from "#lib/sellers/resource-store.ts";

export const listResources: Handler<typeof contract.listResources> = async ({ query }, { caller }) => {
  const { limit, cursor, sellerId } = query;
  const which = { organizationId: caller.organizationId, sellerId };
  const rows = await listLiveResources(database(), which, decodeCursor(cursor), limit + 1);
  const { items, ...rest } = page(rows, limit, placeOfResource);
  return { items: await presentListed(database(), caller.organizationId, items), ...rest };
};
