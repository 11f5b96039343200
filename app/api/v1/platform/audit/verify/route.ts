import { methods, route } from "#lib/api/route.ts";
import { verifyPlatformAudit as operation } from "#lib/platform/audit-contract.ts";
import { verifyPlatformAudit } from "#lib/platform/verify-platform-audit.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, verifyPlatformAudit));
