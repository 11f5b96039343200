import { notFound } from "next/navigation";
import { requireOfficial } from "#app/admin/official.ts";
import { download } from "#app/download.ts";
import { Id } from "#lib/ids.ts";
import { exportPlatformAudit } from "#lib/platform/export-audit.ts";

export async function GET(request: Request): Promise<Response> {
  await requireOfficial("/admin/audit", "platform.audit.read");
  const { searchParams } = new URL(request.url);
  const asked = searchParams.get("chain");
  const chain = asked === null ? undefined : Id.safeParse(asked).data;
  if (asked !== null && chain === undefined) notFound();
  const format = searchParams.get("format") === "csv" ? "csv" : "ndjson";
  const type = format === "csv" ? "text/csv" : "application/x-ndjson";
  return download(`audit-${chain ?? "all"}.${format}`, type, exportPlatformAudit(request.headers.get("cookie"), chain, format));
}
