import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/commerce/order-contract.ts";
import { placeOrder } from "#lib/commerce/place-order.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.placeOrder, placeOrder));
