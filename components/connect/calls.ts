import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/oauth/contract.ts";

/* Operations that this folder calls. They are declared without their schemas, so that browsers do not load the schemas. */

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
