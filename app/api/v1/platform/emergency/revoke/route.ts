import { methods, route } from "#lib/api/route.ts";
import { emergencyRevoke as operation } from "#lib/platform/emergency-contract.ts";
import { emergencyRevoke } from "#lib/platform/emergency-revoke.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, emergencyRevoke));
