import { join } from "node:path";
import { createDispatch } from "#lib/server/dispatch.ts";
import { startListener } from "#lib/server/listener.ts";
import { exportMethods, type Methods } from "#lib/api/route.ts";
import { dispatch } from "#lib/server/entry.ts";
import { pathOf, routeFiles } from "../../scripts/routes.ts";

/** One way in which a request can reach an operation. */
export type WayIn = { readonly send: (request: Request) => Promise<Response>; readonly close: () => Promise<void> };

const ADDRESS = "127.0.0.1";

/** The dispatch called as a function. */
const called = (): Promise<WayIn> =>
  Promise.resolve({ send: (request) => dispatch(request, ADDRESS), close: () => Promise.resolve() });

/** The listener of the production server on a network port. */
async function listened(): Promise<WayIn> {
  const listener = await startListener({
    port: 0,
    dispatch,
    pages: (_incoming, outgoing) => void outgoing.writeHead(404).end(),
    headers: {},
  });
  const send = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
    return fetch(`http://${ADDRESS}:${listener.port}${pathname}${search}`, { method, headers, body, redirect: "manual" });
  };
  return { send, close: async () => void (await listener.drain(1000)) };
}

const app = join(import.meta.dirname, "../../app");

/** The route files, found by their folders as Next.js does. */
async function nextFinds(): Promise<WayIn> {
  const rest = (await import(join(app, "api/[[...path]]/route.ts"))) as Methods;
  const files = await routeFiles();
  const mounted = await Promise.all(
    files.map(async (file) => ({ path: pathOf(file), methods: (await import(join(app, file))) as Methods })),
  );
  const served = createDispatch(mounted);
  const known = createDispatch(mounted.map(({ path }) => ({ path, methods: exportMethods({}) })));
  const send = async (request: Request): Promise<Response> => {
    const found = (await known(new Request(request.url, { method: "DELETE" }))).status !== 404;
    return found ? served(request, ADDRESS) : rest[request.method as keyof Methods](request);
  };
  return { send, close: () => Promise.resolve() };
}

export const waysIn: readonly (readonly [name: string, open: () => Promise<WayIn>])[] = [
  ["a function call", called],
  ["the listener", listened],
  ["the route files", nextFinds],
];
