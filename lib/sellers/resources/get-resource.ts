import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/sellers/contract.ts";
import { onlyOne } from "#lib/sellers/resources/only-resource.ts";
import { presentListed } from "#lib/sellers/present.ts";
import { findOwnResources } from "#lib/sellers/resource-store.ts";

export const getResource: Handler<typeof contract.getResource> = async ({ id, query }, { caller }) => {
  const { organizationId } = caller;
  const found = await findOwnResources(database(), { organizationId, ...query }, id);
  const [resource] = await presentListed(database(), organizationId, [onlyOne(found, "/query/sellerId")]);
  return resource!;
};
