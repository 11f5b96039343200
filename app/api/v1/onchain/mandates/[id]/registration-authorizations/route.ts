import { methods, route } from "#lib/http/route.ts";
import { prepareRegistration } from "#lib/onchain/prepare-registration.ts";
import { registerMandate } from "#lib/onchain/register-mandate.ts";
import * as contract from "#lib/onchain/registration-contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.prepareRegistration, prepareRegistration),
  route(contract.registerMandate, registerMandate),
);
