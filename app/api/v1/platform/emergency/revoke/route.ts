import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/platform/contract.ts";
import { emergencyRevoke } from "#lib/platform/emergency-revoke.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.emergencyRevoke, emergencyRevoke));
