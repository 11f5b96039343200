import { request, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { isChangesPath, resumeAfter } from "#lib/changes/stream-request.ts";
import { addressFrom } from "#lib/http/address.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { createBuckets } from "#lib/http/rate-limit.ts";
import { Counts, hasPlace } from "#lib/http/share.ts";
import { answered, handOver, LOST_HEADER } from "#lib/server/handover.ts";
import { KeptDocuments } from "#lib/server/pages/kept-documents.ts";
import type { PageProcess, PageServer } from "#lib/server/pages/page-process.ts";
import { refusals, refuse, refuseSlowly } from "#lib/server/refusal.ts";

/** Most proxies in front of a service give up after a minute. */
const START_MS = 50_000;
/** A request waits less for pages that have failed to start. */
const FAILING_MS = 10_000;
const FIRST_BYTE_MS = 15_000;
const STALL_MS = 30_000;

const PAGES_AT_ONCE = { most: 32, each: 16, kept: 0 };
/** A page whose script is refused does not work, and browsers request its files together. */
const FILES_AT_ONCE = { most: 512, each: 128, kept: 0 };
const isFile = ({ url = "" }: IncomingMessage): boolean => url.startsWith("/_next/static/");
/** Seconds of the rate limit that a network address may use at once, as a browser requests a page and its files together. */
const BURST = 5;
/** For each page of the rate limit, a network address may get this many cached files, as a cached file costs almost nothing. */
const KEPT_PER_PAGE = 20;

/** Next.js decodes `%61` and resolves `..`, so without this check it would serve the API without this process's limits. */
function isForeign(url: string, others: ReadonlySet<string>): boolean {
  const [path = ""] = url.split("?");
  let plain = path;
  try {
    plain = decodeURIComponent(path);
  } catch {
    return true;
  }
  const [first = ""] = plain.replace(/^[\\/]+/, "").split(/[\\/]/);
  return others.has(first.toLowerCase()) || /[\\/]\.{1,2}(?:[\\/]|$)/.test(plain);
}

/** Resolves when the client has the reply or has gone. */
function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  server: PageServer,
  address: string,
  kept: KeptDocuments,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  outgoing.once("close", resolve);
  const asked = request({
    host: "127.0.0.1",
    port: server.port,
    agent: isFile(incoming) ? server.agents.files : server.agents.pages,
    method: incoming.method,
    path: incoming.url,
    headers: handOver(incoming, address, server.secret),
  });
  const late = setTimeout(() => asked.destroy(new Error("The page did not begin in time.")), FIRST_BYTE_MS);
  outgoing.once("close", () => {
    clearTimeout(late);
    asked.destroy();
  });
  outgoing.setTimeout(STALL_MS, () => outgoing.destroy());
  asked.on("error", (error) => {
    if (outgoing.destroyed || outgoing.writableEnded) return;
    log().warn({ reason: error.message }, "The pages process did not answer");
    refuse(outgoing, refusals.away);
  });
  asked.once("response", (reply) => {
    clearTimeout(late);
    if (reply.headers[LOST_HEADER] !== undefined) {
      reply.resume();
      return refuse(outgoing, refusals.lost);
    }
    const headers = answered(reply.rawHeaders);
    outgoing.writeHead(reply.statusCode ?? 502, headers);
    kept.keep(incoming, reply, headers);
    pipeline(reply, outgoing, () => {});
  });
  asked.end();
  return promise;
}

/** The pages process takes the connection, so that an open stream costs this process nothing. */
function passStream(incoming: IncomingMessage, outgoing: ServerResponse, pages: PageProcess, address: string): void {
  const { socket, url = "", headers } = incoming;
  const after = resumeAfter(url, headers["last-event-id"]);
  if (!pages.giveStream(socket, { cookie: headers.cookie ?? null, address, after })) return refuse(outgoing, refusals.away);
  // The pages process ends the response, so emit "close" here, or the listener would count the response as open.
  outgoing.emit("close");
}

type Limits = {
  readonly perSecond: number;
  /** The first segments of the paths that other handlers serve. */
  readonly others: ReadonlySet<string>;
};

export function servePages(pages: PageProcess, { perSecond, others }: Limits) {
  const kept = new KeptDocuments();
  const takePage = createBuckets("pages", perSecond, perSecond * BURST);
  const takeKept = createBuckets("files", perSecond * KEPT_PER_PAGE, perSecond * KEPT_PER_PAGE * BURST);
  const underWay = { pages: new Counts(), files: new Counts() };

  const refuseForLimit = (outgoing: ServerResponse, why: "tooMany" | "busy"): Promise<void> => {
    metrics().pagesRefused.inc({ status: String(refusals[why].status) });
    return refuseSlowly(outgoing, refusals[why]);
  };

  const renderPage = async (incoming: IncomingMessage, outgoing: ServerResponse, address: string): Promise<void> => {
    const [counts, share] = isFile(incoming) ? [underWay.files, FILES_AT_ONCE] : [underWay.pages, PAGES_AT_ONCE];
    if (!hasPlace(counts.of(address), counts.total, share)) return refuseForLimit(outgoing, "busy");
    counts.add(address, 1);
    try {
      const server = await pages.server(pages.fails ? FAILING_MS : START_MS);
      if (server === null) refuse(outgoing, refusals.away);
      else if (!outgoing.destroyed) await pass(incoming, outgoing, server, address, kept);
    } finally {
      counts.add(address, -1);
    }
  };

  return async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method, url = "", headers, socket } = incoming;
    if (method !== "GET" && method !== "HEAD") return refuse(outgoing, refusals.otherMethod);
    if (!url.startsWith("/") || isForeign(url, others)) return refuse(outgoing, refusals.nothing);
    const forwarded = headers["x-forwarded-for"];
    const address = addressFrom(
      socket.remoteAddress ?? "unknown",
      Array.isArray(forwarded) ? forwarded.join() : (forwarded ?? null),
    );
    if (kept.has(incoming)) {
      if (!takeKept(address).allowed) return refuseForLimit(outgoing, "tooMany");
      if (kept.answer(incoming, outgoing)) return;
    }
    if (!takePage(address).allowed) return refuseForLimit(outgoing, "tooMany");
    if (method === "GET" && isChangesPath(url)) return passStream(incoming, outgoing, pages, address);
    await renderPage(incoming, outgoing, address);
  };
}
