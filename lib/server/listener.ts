import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Dispatch } from "#lib/server/dispatch.ts";
import { boundConnections } from "#lib/server/connections.ts";
import { log } from "#lib/telemetry/log.ts";
import type { Reply } from "#lib/http/reply.ts";
import { malformedRoute } from "#lib/api/route.ts";
import type { Share } from "#lib/http/share.ts";

type NodeHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | void;

export type ListenOptions = {
  readonly port: number;
  readonly dispatch: Dispatch | null;
  /** Everything that is not ours to dispatch: pages and their files. */
  readonly pages: NodeHandler;
  readonly headers: Readonly<Record<string, string>>;
  readonly limits?: Partial<Limits>;
};

type Limits = {
  /** From the first byte, or from the connection's beginning, to the end of the headers. */
  readonly headersMs: number;
  /** To the end of the body. */
  readonly requestMs: number;
  readonly connections: Share;
};

const standard: Limits = {
  headersMs: 10_000,
  requestMs: 30_000,
  // More than the waits for buyers, and than a load balancer keeps.
  connections: { most: 10_000, each: 2_500, kept: 1_000 },
};
/** How often Node looks for connections that are over their limit; by itself every 30 s. */
const CHECK_MS = 1_000;

export type Listener = {
  readonly port: number;
  /** From now on every answer ends its connection, so that clients and load balancers open the next one elsewhere. */
  endKeepAlive(): void;
  /** Stops listening and waits for the requests under way; false when some were cut off at the limit. */
  drain(limitMs: number): Promise<boolean>;
};

/** What never goes through the framework. */
const DISPATCHED = /^\/(?:api(?:[/?]|$)|metrics(?:\?|$))/;

function listen(server: Server, port: number): Promise<void> {
  return new Promise((done, fail) => {
    server.once("error", fail);
    server.listen(port, () => {
      server.off("error", fail);
      done();
    });
  });
}

/**
 * An answer that is not finished, until it is. A Set that entries come to and leave points, in the tables that it has outgrown, to what it
 * held then: whole answers would live until the next full collection of garbage.
 */
type Open = { outgoing: ServerResponse | null };

async function drain(server: Server, limitMs: number): Promise<boolean> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    limit = setTimeout(resolve, limitMs, "late");
  });
  const cut = (await Promise.race([closed, late])) === "late";
  clearInterval(idle);
  clearTimeout(limit);
  if (cut) server.closeAllConnections();
  return !cut;
}

/** HAProxy asks with HTTP/1.0 and no Host whether a server is well, and hono cannot make a URL of that. */
function allowHealthWithoutHost({ headers, url }: IncomingMessage): void {
  if (headers.host === undefined && url?.startsWith("/api/v1/health/")) headers.host = "localhost";
}

/** Twice as fast as building a Response and taking it apart again. */
function write(outgoing: ServerResponse, { status, headers, body }: Reply): void {
  const length = body === null ? {} : { "Content-Length": Buffer.byteLength(body) };
  outgoing.writeHead(status, { ...headers, ...length });
  outgoing.end(body ?? undefined);
}

/** What the request line or Host makes impossible to read; routes themselves never throw. */
function refuseUnreadable(error: unknown): Promise<Response> {
  log().debug({ error }, "A request could not be read");
  return malformedRoute(new Request("http://unreadable/"));
}

export async function startListener({ port, dispatch, pages, headers, limits }: ListenOptions): Promise<Listener> {
  const { headersMs, requestMs, connections } = { ...standard, ...limits };
  const open = new Set<Open>();
  let keepAlive = true;
  const direct =
    dispatch &&
    getRequestListener(
      async (request, { incoming, outgoing }) => {
        const reply = await dispatch.plain(request, incoming.socket.remoteAddress);
        if (reply instanceof Response) return reply;
        // The server is ours and speaks HTTP/1.1.
        write(outgoing as ServerResponse, reply);
        return RESPONSE_ALREADY_SENT;
      },
      // Next.js is in this process and needs Node's own Request and Response.
      { overrideGlobalObjects: false, errorHandler: (error) => refuseUnreadable(error) },
    );
  const server = createServer(
    {
      keepAliveTimeout: 65_000,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(CHECK_MS, headersMs),
      noDelay: true,
    },
    (incoming, outgoing) => {
      const one: Open = { outgoing };
      open.add(one);
      if (!keepAlive) outgoing.shouldKeepAlive = false;
      allowHealthWithoutHost(incoming);
      outgoing.once("close", () => {
        open.delete(one);
        one.outgoing = null;
      });
      for (const name in headers) outgoing.setHeader(name, headers[name] ?? "");
      if (direct && DISPATCHED.test(incoming.url ?? "")) return void direct(incoming, outgoing);
      void pages(incoming, outgoing);
    },
  );
  boundConnections(server, connections);
  await listen(server, port);
  const endKeepAlive = (): void => {
    keepAlive = false;
    // A client that keeps its connection would otherwise send the next request into a closing server.
    for (const { outgoing } of open) if (outgoing) outgoing.shouldKeepAlive = false;
  };
  const { port: listening } = server.address() as AddressInfo;
  return {
    port: listening,
    endKeepAlive,
    drain(limitMs) {
      endKeepAlive();
      return drain(server, limitMs);
    },
  };
}
