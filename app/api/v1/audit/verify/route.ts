import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/audit/contract.ts";
import { verifyAudit } from "#lib/audit/verify-audit.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.verifyAudit, verifyAudit));
