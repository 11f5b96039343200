import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/keys/contract.ts";

export const revokeServiceAccount = atAddress<typeof contract.revokeServiceAccount>({
  id: "revokeServiceAccount",
  method: "POST",
  path: "/api/v1/auth/service-accounts/{id}/revoke",
});
