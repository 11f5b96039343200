import { notFound } from "next/navigation";
import { requireOfficial } from "#app/admin/official.ts";
import { download } from "#app/download.ts";
import { Id } from "#lib/ids.ts";
import { exportAudit } from "#lib/platform/export-audit.ts";

export async function GET(request: Request): Promise<Response> {
  await requireOfficial("/admin/audit", "platform.audit.read");
  const { searchParams } = new URL(request.url);
  const asked = searchParams.get("chain");
  const chain = asked === null ? undefined : Id.safeParse(asked).data;
  if (asked !== null && chain === undefined) notFound();
  const name = `audit-${chain ?? "all"}`;
  return searchParams.get("format") === "csv"
    ? download(`${name}.csv`, "text/csv", exportAudit.csv(chain))
    : download(`${name}.ndjson`, "application/x-ndjson", exportAudit.ndjson(chain));
}
