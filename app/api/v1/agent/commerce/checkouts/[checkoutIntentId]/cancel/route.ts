import { methods, route } from "#lib/api/route.ts";
import { cancelCheckout } from "#lib/commerce/cancel-checkout.ts";
import * as contract from "#lib/commerce/checkout-contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.cancelCheckout, cancelCheckout));
