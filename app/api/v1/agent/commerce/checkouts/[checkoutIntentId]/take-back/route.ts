import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/commerce/checkout-contract.ts";
import { takeBackApproval } from "#lib/commerce/take-back-approval.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.takeBackApproval, takeBackApproval));
