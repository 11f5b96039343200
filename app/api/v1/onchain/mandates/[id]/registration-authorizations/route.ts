import { methods, route } from "#lib/api/route.ts";
import { prepareRegistration } from "#lib/onchain/registration/prepare-registration.ts";
import { registerMandate } from "#lib/onchain/registration/register-mandate.ts";
import * as contract from "#lib/onchain/registry/registration-contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.prepareRegistration, prepareRegistration),
  route(contract.registerMandate, registerMandate),
);
