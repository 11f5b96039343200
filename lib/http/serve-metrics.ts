import { createHash, timingSafeEqual } from "node:crypto";
import { env } from "#lib/env.ts";
import { socketAddressOf } from "#lib/http/address.ts";
import { metrics } from "#lib/http/metrics.ts";
import { exportMethods, notFoundRoute, type Methods } from "#lib/http/route.ts";
import { authorizeQueue } from "#lib/payments/authorize-payment.ts";

export const METRICS_PATH = "/metrics";

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** A proxy on this machine connects from loopback too, but it says for whom. */
function isLocal(request: Request): boolean {
  if (request.headers.has("x-forwarded-for") || request.headers.has("forwarded")) return false;
  return env().TRUSTED_PROXY_HOPS === 0 && LOOPBACK.test(socketAddressOf(request) ?? "");
}

function hasToken(request: Request): boolean {
  const token = env().METRICS_TOKEN;
  const given = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  return token !== undefined && given !== undefined && timingSafeEqual(digest(token), digest(given));
}

/** Prometheus text for a scraper on this machine, or with METRICS_TOKEN as bearer token. For others there is nothing here. */
export async function serveMetrics(request: Request): Promise<Response> {
  if (!isLocal(request) && !hasToken(request)) return notFoundRoute(request);
  const { registry, queueDepth } = metrics();
  queueDepth.set(authorizeQueue().depth);
  return new Response(await registry.metrics(), {
    headers: { "Content-Type": registry.contentType, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" },
  });
}

export const metricsMethods: Methods = exportMethods({ GET: serveMetrics });
