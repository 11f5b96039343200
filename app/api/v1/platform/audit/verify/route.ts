import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/platform/contract.ts";
import { verifyPlatformAudit } from "#lib/platform/verify-platform-audit.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.verifyPlatformAudit, verifyPlatformAudit));
