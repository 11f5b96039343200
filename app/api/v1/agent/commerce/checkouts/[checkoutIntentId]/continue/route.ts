import { methods, route } from "#lib/api/route.ts";
import { continueCheckout } from "#lib/commerce/continue-checkout.ts";
import * as contract from "#lib/commerce/order-contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.continueCheckout, continueCheckout));
