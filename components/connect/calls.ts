import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/oauth/contract.ts";

export const endConnection = atAddress<typeof contract.endConnection>({
  id: "endConnection",
  method: "POST",
  path: "/api/v1/auth/connections/{connectionId}/end",
});

export const removeAgentClient = atAddress<typeof contract.removeAgentClient>({
  id: "removeAgentClient",
  method: "POST",
  path: "/api/v1/auth/clients/{clientId}/remove",
});
