import { download, readable } from "#app/download.ts";
import { requireMember } from "#app/session.ts";
import { exportAudit } from "#lib/pages/settings/export-audit.ts";

export async function GET(request: Request): Promise<Response> {
  await requireMember("/settings/audit");
  const { kind, id, since, until } = Object.fromEntries(new URL(request.url).searchParams);
  return download(
    "audit-events.csv",
    "text/csv",
    await readable(exportAudit(request.headers.get("cookie"), { kind, id, since, until }, "csv")),
  );
}
