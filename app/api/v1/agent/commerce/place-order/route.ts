import { placeOrder } from "#lib/commerce/place-order.ts";
import * as orders from "#lib/commerce/order-contract.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(orders.placeOrder, placeOrder));
