import { methods, route } from "#lib/api/route.ts";
import { archiveResource } from "#lib/sellers/resources/archive-resource.ts";
import * as contract from "#lib/sellers/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.archiveResource, archiveResource));
