import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { resumeServiceAccount } from "#lib/identity/keys/resume-service-account.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.resumeServiceAccount, resumeServiceAccount),
);
