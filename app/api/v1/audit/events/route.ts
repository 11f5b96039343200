import { methods, route } from "#lib/http/route.ts";
import { listAuditEvents } from "#lib/audit/list-audit-events.ts";
import * as contract from "#lib/audit/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.listAuditEvents, listAuditEvents));
