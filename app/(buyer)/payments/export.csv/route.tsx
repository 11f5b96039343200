import { download } from "#app/download.ts";
import { newId } from "#lib/ids.ts";
import { exportPayments } from "#lib/pages/buyer/export-payments.ts";
import { isProblem } from "#lib/problem.ts";
import { problemReply } from "#lib/http/reply.ts";

export async function GET(request: Request): Promise<Response> {
  const query = Object.fromEntries(new URL(request.url).searchParams);
  try {
    const { name, lines } = await exportPayments(request.headers.get("cookie"), query);
    return download(name, "text/csv", lines);
  } catch (error) {
    if (!isProblem(error)) throw error;
    const { status, headers, body } = problemReply(error, newId("request"), null);
    return new Response(body, { status, headers });
  }
}
