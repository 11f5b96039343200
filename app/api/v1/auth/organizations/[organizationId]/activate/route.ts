import { methods, route } from "#lib/api/route.ts";
import { activateOrganization } from "#lib/identity/sessions/activate-organization.ts";
import * as contract from "#lib/identity/sessions/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.activateOrganization, activateOrganization),
);
