import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/sellers/contract.ts";
import { probeResource } from "#lib/sellers/resources/probe-resource.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.probeResource, probeResource));
