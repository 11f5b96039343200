import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { removeAgentClient } from "#lib/identity/oauth/remove-agent-client.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.removeAgentClient, removeAgentClient));
