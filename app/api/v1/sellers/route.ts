import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/sellers/contract.ts";
import { listSellers } from "#lib/sellers/list-sellers.ts";
import { registerSeller } from "#lib/sellers/register-seller.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listSellers, listSellers),
  route(contract.registerSeller, registerSeller),
);
