import { methods, route } from "#lib/api/route.ts";
import { listPlatformAuditEvents as operation } from "#lib/platform/audit-contract.ts";
import { listPlatformAuditEvents } from "#lib/platform/list-platform-audit-events.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, listPlatformAuditEvents));
