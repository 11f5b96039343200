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
  readonly nextServesApi?: boolean;
  readonly pages: NodeHandler;
  readonly headers: Readonly<Record<string, string>>;
  readonly limits?: Partial<Limits>;
};

type Limits = {
  /** The time for the headers, from the first byte of a request or from the start of the connection. */
  readonly headersMs: number;
  /** The time for a request with its body. */
  readonly requestMs: number;
  readonly connections: Share;
};

const standard: Limits = {
  headersMs: 10_000,
  requestMs: 30_000,
  // More than the payments that can wait for a decision (bounds.queued).
  connections: { most: 10_000, each: 2_500, kept: 1_000 },
};
/** Node's default is 30 s. */
const CHECK_MS = 1_000;

export type Listener = {
  readonly port: number;
  /** Every later reply closes its connection, so that clients connect to another process. */
  endKeepAlive(): void;
  /** Returns false if some requests were ended at the limit. */
  drain(limitMs: number): Promise<boolean>;
};

const API = /^\/api(?:[/?]|$)/;

function listen(server: Server, port: number): Promise<void> {
  return new Promise((done, fail) => {
    server.once("error", fail);
    server.listen(port, () => {
      server.off("error", fail);
      done();
    });
  });
}

/** Set to null on close, so that a finished response can be freed even if something still refers to this object. */
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

/** HAProxy's health check uses HTTP/1.0 without a Host header, and hono cannot make a URL without this header. */
function allowHealthWithoutHost({ headers, url }: IncomingMessage): void {
  if (headers.host === undefined && url?.startsWith("/api/v1/health/")) headers.host = "localhost";
}

/** Writes a reply directly, which is faster than making a Response object and reading it again. */
function write(outgoing: ServerResponse, { status, headers, body }: Reply): void {
  const length = body === null ? {} : { "Content-Length": Buffer.byteLength(body) };
  outgoing.writeHead(status, { ...headers, ...length });
  outgoing.end(body ?? undefined);
}

/** Answers a request whose request line or Host cannot be read. */
function refuseUnreadable(error: unknown): Promise<Response> {
  log().debug({ error }, "A request could not be read");
  return malformedRoute(new Request("http://unreadable/"));
}

export async function startListener({ port, dispatch, nextServesApi, pages, headers, limits }: ListenOptions): Promise<Listener> {
  const { headersMs, requestMs, connections } = { ...standard, ...limits };
  const open = new Set<Open>();
  let keepAlive = true;
  const direct =
    dispatch &&
    getRequestListener(
      async (request, { incoming, outgoing }) => {
        const reply = await dispatch.plain(request, incoming.socket.remoteAddress);
        if (reply instanceof Response) return reply;
        // The cast is safe, because this server speaks only HTTP/1.1.
        write(outgoing as ServerResponse, reply);
        return RESPONSE_ALREADY_SENT;
      },
      // In development Next.js runs in this process too and needs Node's original Request and Response.
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
      const url = incoming.url ?? "";
      const isMine = API.test(url) ? !nextServesApi : dispatch?.isBesideApi(url.split("?", 1)[0] ?? "");
      if (direct && isMine) return void direct(incoming, outgoing);
      void pages(incoming, outgoing);
    },
  );
  boundConnections(server, connections);
  await listen(server, port);
  const endKeepAlive = (): void => {
    keepAlive = false;
    // Close the connection of each open response, or a client would send its next request to a server that is closing.
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
