import { methods, route } from "#lib/api/route.ts";
import { verifyAudit } from "#lib/audit/verify-audit.ts";
import * as contract from "#lib/audit/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.verifyAudit, verifyAudit));
