import { download, readable } from "#app/download.ts";
import { requireMember } from "#app/session.ts";
import { exportFees } from "#lib/pages/settings/view-statement.ts";

export async function GET(request: Request): Promise<Response> {
  const caller = await requireMember("/settings/billing");
  const asked = new URL(request.url).searchParams.get("month") ?? undefined;
  const { month, lines } = await readable(exportFees(caller, asked));
  return download(`fees-${month}.csv`, "text/csv", lines);
}
