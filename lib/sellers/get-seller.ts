import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { notFound } from "#lib/problem.ts";
import type * as contract from "#lib/sellers/contract.ts";
import { presentSeller } from "#lib/sellers/present.ts";
import { findSeller } from "#lib/sellers/store.ts";

export const getSeller: Handler<typeof contract.getSeller> = async ({ id }, { caller }) => {
  const seller = await findSeller(database(), caller.environment, id);
  if (!seller) throw notFound("seller");
  return presentSeller(seller);
};
