import { previewCheckout } from "#lib/commerce/preview-checkout.ts";
import * as contract from "#lib/commerce/contract.ts";
import { methods, route } from "#lib/http/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.previewCheckout, previewCheckout));
