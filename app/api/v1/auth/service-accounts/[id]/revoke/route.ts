import { methods, route } from "#lib/api/route.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import * as contract from "#lib/identity/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.revokeServiceAccount, revokeServiceAccount),
);
