import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/mandates/contract.ts";
import { getMandate } from "#lib/mandates/get-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.getMandate, getMandate),
  route(contract.updateMandate, updateMandate),
);
