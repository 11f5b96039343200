import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/sellers/contract.ts";
import { getResource } from "#lib/sellers/resources/get-resource.ts";
import { upsertPaidResource } from "#lib/sellers/resources/upsert-paid-resource.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.getResource, getResource),
  route(contract.upsertPaidResource, upsertPaidResource),
);
