import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/commerce/checkout-contract.ts";
import { getCheckout } from "#lib/commerce/get-checkout.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.getCheckout, getCheckout));
