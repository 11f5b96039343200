import { continueCheckout } from "#lib/commerce/continue-checkout.ts";
import * as orders from "#lib/commerce/order-contract.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(orders.continueCheckout, continueCheckout));
