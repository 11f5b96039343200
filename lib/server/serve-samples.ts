import { exportMethods, type Methods, notFoundRoute } from "#lib/api/route.ts";
import { splitUrl } from "#lib/http/input.ts";
import { requireAllowed, takeAddress } from "#lib/http/rate-limit.ts";
import { headersOf, toProblem } from "#lib/http/reply.ts";
import { withinDeadline } from "#lib/http/deadline.ts";
import { newId } from "#lib/ids.ts";
import { problemBody, problems } from "#lib/problem.ts";
import { sampleAsset } from "#lib/sandbox/sample-asset.ts";
import { samples } from "#lib/sandbox/samples.ts";

/** The code of the sample sellers is loaded with the first request, because not every installation has them. */
async function serve(request: Request): Promise<Response> {
  const asset = sampleAsset();
  const { path } = splitUrl(request.url);
  if (!asset || samples.every((one) => one.path !== path)) return notFoundRoute(request);
  const requestId = newId("request");
  try {
    requireAllowed(takeAddress(request));
    const { serveSample } = await import("#lib/sandbox/sample-seller.ts");
    const response = await withinDeadline(serveSample(asset, request));
    for (const [name, value] of Object.entries(headersOf(requestId, response.status, null)))
      if (!response.headers.has(name)) response.headers.set(name, value);
    return response;
  } catch (error) {
    const problem = toProblem(error, requestId, "sample");
    const { status } = problems[problem.code];
    return new Response(JSON.stringify(problemBody(problem, requestId)), { status, headers: headersOf(requestId, status, null) });
  }
}

export const sampleMethods: Methods = exportMethods({ GET: serve });
