import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { createServiceAccount } from "#lib/identity/keys/create-service-account.ts";
import { listServiceAccounts } from "#lib/identity/keys/list-service-accounts.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listServiceAccounts, listServiceAccounts),
  route(contract.createServiceAccount, createServiceAccount),
);
