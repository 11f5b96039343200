import { previewCheckout } from "#lib/commerce/preview-checkout.ts";
import * as contract from "#lib/approvals/contract.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.previewCheckout, previewCheckout));
