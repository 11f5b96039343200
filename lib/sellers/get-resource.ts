import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/sellers/contract.ts";
import { theOne } from "#lib/sellers/own-resource.ts";
import { presentResource } from "#lib/sellers/present.ts";
import { findOwnResources } from "#lib/sellers/store.ts";

export const getResource: Handler<typeof contract.getResource> = async ({ id, query }, { caller }) => {
  const found = await findOwnResources(database(), { organizationId: caller.organizationId, ...query }, id);
  return presentResource(theOne(found, "/query/sellerId"));
};
