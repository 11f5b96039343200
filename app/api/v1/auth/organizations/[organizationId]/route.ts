import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { updateOrganization } from "#lib/identity/members/update-organization.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.updateOrganization, updateOrganization));
