import { methods, route } from "#lib/api/route.ts";
import { listServiceAccounts } from "#lib/identity/keys/list-service-accounts.ts";
import { createServiceAccount } from "#lib/identity/keys/create-service-account.ts";
import * as contract from "#lib/identity/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listServiceAccounts, listServiceAccounts),
  route(contract.createServiceAccount, createServiceAccount),
);
