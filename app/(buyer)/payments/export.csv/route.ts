import { download } from "#app/download.ts";
import { readCaller } from "#app/session.ts";
import { newId } from "#lib/ids.ts";
import { csvName, paymentsCsv, recordExport } from "#lib/pages/export-payments.ts";
import { readPaymentFilter } from "#lib/payments/payment-filter.ts";
import { Problem } from "#lib/problem.ts";
import { problemReply } from "#lib/http/reply.ts";

/** The payments page's list as a CSV file, with the same filters. */
export async function GET(request: Request): Promise<Response> {
  const requestId = newId("request");
  const caller = await readCaller();
  const refuse = (problem: Problem) => {
    const { status, headers, body } = problemReply(problem, requestId, null);
    return new Response(body, { status, headers });
  };
  if (!caller?.organizationId) return refuse(new Problem("unauthenticated", { detail: "Sign in to export payments." }));
  if (!caller.capabilities.has("payments:read"))
    return refuse(new Problem("capability_required", { detail: "Your role does not show payments." }));
  const { organizationId, environment, userId } = caller;
  const query = Object.fromEntries(new URL(request.url).searchParams);
  const now = await recordExport({ organizationId, userId }, query);
  const lines = paymentsCsv({ organizationId, environment }, readPaymentFilter(query));
  return download(csvName(now), "text/csv", lines);
}
