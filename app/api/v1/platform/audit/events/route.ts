import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/platform/contract.ts";
import { listPlatformAuditEvents } from "#lib/platform/list-platform-audit-events.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listPlatformAuditEvents, listPlatformAuditEvents),
);
