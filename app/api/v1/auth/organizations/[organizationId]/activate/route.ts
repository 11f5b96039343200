import { methods, route } from "#lib/http/route.ts";
import { activateOrganization } from "#lib/identity/activate-organization.ts";
import * as contract from "#lib/identity/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.activateOrganization, activateOrganization),
);
