import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/onchain/registry/contract.ts";
import { listDeployments } from "#lib/onchain/registry/list-deployments.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.listDeployments, listDeployments));
