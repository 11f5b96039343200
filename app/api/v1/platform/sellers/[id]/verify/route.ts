import { methods, route } from "#lib/api/route.ts";
import { verifySeller as operation } from "#lib/platform/emergency-contract.ts";
import { verifySeller } from "#lib/platform/verify-seller.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, verifySeller));
