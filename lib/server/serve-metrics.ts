import { createHash, timingSafeEqual } from "node:crypto";
import { env } from "#lib/env.ts";
import { socketAddressOf } from "#lib/http/address.ts";
import { isLocal } from "#lib/http/local-request.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { exportMethods, notFoundRoute, type Methods } from "#lib/api/route.ts";
import { authorizeQueue } from "#lib/payments/authorize-payment.ts";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** If TRUSTED_PROXY_HOPS is above 0, no request counts as local, even if the proxy does not name its client. */
const comesFromHere = (request: Request): boolean =>
  env().TRUSTED_PROXY_HOPS === 0 && isLocal(socketAddressOf(request), (name) => request.headers.get(name));

function hasToken(request: Request): boolean {
  const token = env().METRICS_TOKEN;
  const given = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  return token !== undefined && given !== undefined && timingSafeEqual(digest(token), digest(given));
}

/** For a scraper on this machine, or with METRICS_TOKEN as bearer token. Others get the answer for an unknown path. */
export async function serveMetrics(request: Request): Promise<Response> {
  if (!comesFromHere(request) && !hasToken(request)) return notFoundRoute(request);
  const { registry, queueDepth } = metrics();
  queueDepth.set(authorizeQueue().depth);
  return new Response(await registry.metrics(), {
    headers: { "Content-Type": registry.contentType, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" },
  });
}

export const metricsMethods: Methods = exportMethods({ GET: serveMetrics });
