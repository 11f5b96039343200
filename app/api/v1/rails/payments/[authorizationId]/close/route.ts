import { methods, route } from "#lib/api/route.ts";
import { closeCardPayment } from "#lib/cards/close-card-payment.ts";
import * as contract from "#lib/cards/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.closeCardPayment, closeCardPayment));
