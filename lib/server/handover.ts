import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { ADDRESS_HEADER } from "#lib/http/address.ts";
import { isLocalRequest, LOCAL_HEADER } from "#lib/http/local-request.ts";

/**
 * These headers are removed from a client's request. Only the API process sets those with our prefix. With the other, and a key
 * that is in the build, Next.js would leave out proxy.tsx, and everybody has the build of the package.
 */
const OURS = /^x-countersign-|^x-prerender-revalidate/;
export const SECRET_HEADER = "x-countersign-secret";
/** The pages process sets it on an answer that failed because the database was lost. */
export const LOST_HEADER = "x-countersign-lost";

const CONNECTION = new Set(["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"]);
/** The body of a request for a page is not passed on. */
const BODY = new Set(["content-length", "expect"]);

/** Requests reach the pages process from this machine, so headers tell it the client's address. */
export function handOver(incoming: IncomingMessage, address: string, secret: string): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (!OURS.test(name) && !CONNECTION.has(name) && !BODY.has(name)) headers[name] = value;
  }
  // Only these two values are passed on, so that a file has at most two cached copies.
  headers["accept-encoding"] = acceptsGzip(incoming) ? "gzip" : "identity";
  headers[LOCAL_HEADER] = isLocalRequest(incoming) ? "1" : "0";
  headers[ADDRESS_HEADER] = address;
  headers[SECRET_HEADER] = secret;
  return headers;
}

export const acceptsGzip = ({ headers }: IncomingMessage): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\s*(?:,|$))/.test(headers["accept-encoding"] ?? "");

/** Removes the headers that are about one connection only. */
export function answered(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!;
    if (!CONNECTION.has(name.toLowerCase())) kept.push(name, raw[at + 1]!);
  }
  return kept;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether a request comes from the process that knows the secret. Removes the secret, so that no page sees it. */
export function takeSecret(incoming: IncomingMessage, secret: string): boolean {
  const given = incoming.headers[SECRET_HEADER];
  Reflect.deleteProperty(incoming.headers, SECRET_HEADER);
  const at = incoming.rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === SECRET_HEADER);
  if (at >= 0) incoming.rawHeaders.splice(at, 2);
  return typeof given === "string" && timingSafeEqual(digest(given), digest(secret));
}
