/** The process that renders the pages. The process of server.ts starts it. */
import "#lib/installation/node-env.ts";
import { AsyncResource } from "node:async_hooks";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Socket, type AddressInfo } from "node:net";
import { join } from "node:path";
import next from "next";
import { ChangeStreams } from "#lib/changes/change-streams.ts";
import { followRequest, lostDatabase } from "#lib/db/request.ts";
import { askHealthWith, type ProcessHealth } from "#lib/health/process-health.ts";
import { home } from "#lib/process.ts";
import { LOST_HEADER, takeSecret } from "#lib/server/handover.ts";
import { ALIVE_EVERY_MS, DRAIN_MS, type FromPages, type FromParent } from "#lib/server/messages.ts";

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

const tell = (message: FromPages): void => void process.send?.(message, () => {});

// If the parent process has ended, this process gets no more requests, so it exits.
process.on("disconnect", () => process.exit(0));
// A service manager may send these signals to every process. This process ignores them and ends when the parent says so.
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => {});

const asked = new Map<number, (health: ProcessHealth | null) => void>();
let questions = 0;

/** Asks the parent process for its health, because only the parent knows its queue and its connections. */
async function askHealth(): Promise<ProcessHealth> {
  const id = (questions += 1);
  const { promise, resolve } = Promise.withResolvers<ProcessHealth | null>();
  asked.set(id, resolve);
  tell({ type: "health", id });
  const health = await promise;
  asked.delete(id);
  if (health === null) throw new Error("The health of the service could not be told.");
  return health;
}
askHealthWith(askHealth);

/** If a page has lost the database, Next.js answers 500 with a page of its own. The parent then answers instead. */
function followPage(handle: Handle, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  return followRequest(() => {
    const lost = AsyncResource.bind(lostDatabase);
    const writeHead = outgoing.writeHead.bind(outgoing) as (...head: unknown[]) => ServerResponse;
    outgoing.writeHead = (status: number, ...rest: unknown[]) => {
      if (status === 500 && lost() !== null) outgoing.setHeader(LOST_HEADER, "1");
      return writeHead(status, ...rest);
    };
    return handle(incoming, outgoing);
  });
}

async function serve(secret: string): Promise<() => void> {
  // Without this, Next.js reads next.config.ts, for which it needs its compiler.
  const built = join(home(), ".next/required-server-files.json");
  const { config } = JSON.parse(await readFile(built, "utf8")) as { readonly config: unknown };
  process.env["__NEXT_PRIVATE_STANDALONE_CONFIG"] = JSON.stringify(config);
  const app = next({ dev: false, customServer: true, dir: home() });
  await app.prepare();
  const handle = app.getRequestHandler();
  // The parent process decides how long connections stay open. The headers may be larger than usual, because the parent adds its
  // own to those of the client.
  const server = createServer({ keepAliveTimeout: 0, maxHeaderSize: 32_768 }, (incoming, outgoing) => {
    if (takeSecret(incoming, secret)) void followPage(handle, incoming, outgoing);
    else outgoing.writeHead(403, { Connection: "close" }).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  tell({ type: "listening", port: (server.address() as AddressInfo).port });
  const alive = () => tell({ type: "alive", residentBytes: process.memoryUsage.rss() });
  alive();
  setInterval(alive, ALIVE_EVERY_MS);
  return () => {
    setTimeout(() => process.exit(1), DRAIN_MS);
    setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => process.exit(0));
  };
}

const streams = new ChangeStreams();
let serving: Promise<() => void> | null = null;
process.on("message", (message: FromParent, connection: unknown) => {
  if (message.type === "begin") {
    serving ??= serve(message.secret);
    serving.catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  }
  if (message.type === "health") asked.get(message.id)?.(message.health);
  // The connection is missing if the browser closed it before it arrived here.
  if (message.type === "stream" && connection instanceof Socket) void streams.open(connection, message.request);
  if (message.type === "end") {
    streams.end();
    if (serving === null) process.exit(0);
    void serving.then((end) => end());
  }
});
