import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { rotateServiceAccountKey } from "#lib/identity/keys/rotate-service-account-key.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.rotateServiceAccountKey, rotateServiceAccountKey),
);
