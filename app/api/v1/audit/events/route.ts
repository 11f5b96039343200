import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/audit/contract.ts";
import { listAuditEvents } from "#lib/audit/list-audit-events.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.listAuditEvents, listAuditEvents));
