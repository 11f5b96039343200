import { methods, route } from "#lib/http/route.ts";
import * as contract from "#lib/onchain/contract.ts";
import { listDeployments } from "#lib/onchain/list-deployments.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.listDeployments, listDeployments));
