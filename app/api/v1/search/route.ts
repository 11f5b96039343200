import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/search/contract.ts";
import { searchOrganization } from "#lib/search/search-organization.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.searchOrganization, searchOrganization));
