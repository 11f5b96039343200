import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/sellers/contract.ts";
import { verifySeller } from "#lib/sellers/verify-seller.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.verifySeller, verifySeller));
