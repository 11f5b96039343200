import { methods, route } from "#lib/api/route.ts";
import { connectAgent } from "#lib/identity/oauth/connect-agent.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { listConnections } from "#lib/identity/oauth/list-connections.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listConnections, listConnections),
  route(contract.connectAgent, connectAgent),
);
