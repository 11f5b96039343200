import { methods, route } from "#lib/api/route.ts";
import { challengePayTo } from "#lib/sellers/pay-to/challenge-pay-to.ts";
import * as contract from "#lib/sellers/pay-to/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.challengePayTo, challengePayTo));
