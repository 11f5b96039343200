import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/sellers/contract.ts";
import { verifySellerDomain } from "#lib/sellers/verify-seller-domain.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.verifySellerDomain, verifySellerDomain));
