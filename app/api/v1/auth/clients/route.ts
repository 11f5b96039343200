import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { createAgentClient } from "#lib/identity/oauth/create-agent-client.ts";
import { listAgentClients } from "#lib/identity/oauth/list-agent-clients.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listAgentClients, listAgentClients),
  route(contract.createAgentClient, createAgentClient),
);
