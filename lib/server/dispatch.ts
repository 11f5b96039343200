import { noteAddress } from "#lib/http/address.ts";
import { splitUrl } from "#lib/http/input.ts";
import type { Reply } from "#lib/http/reply.ts";
import { notFoundRoute, type Methods, type Serve } from "#lib/api/route.ts";

export type Mounted = { readonly path: string; readonly methods: Methods };

type Node = { readonly next: Map<string, Node>; parameter: Node | null; methods: Methods | null; rest: Methods | null };

const emptyNode = (): Node => ({ next: new Map(), parameter: null, methods: null, rest: null });

function add(root: Node, { path, methods }: Mounted): void {
  let node = root;
  for (const segment of path.split("/").slice(1)) {
    if (segment.startsWith("{...")) return void (node.rest = methods);
    if (segment.startsWith("{")) node = node.parameter ??= emptyNode();
    else {
      const child = node.next.get(segment) ?? emptyNode();
      node.next.set(segment, child);
      node = child;
    }
  }
  if (node.methods) throw new Error(`Two things are mounted at ${path}.`);
  node.methods = methods;
}

/**
 * A fixed segment takes precedence, and then a parameter, as in Next.js. A parameter is never empty, so a path with a final slash
 * is not found.
 */
function find(node: Node, segments: readonly string[], at: number): Methods | null {
  const segment = segments[at];
  if (segment === undefined) return node.methods;
  const fixed = node.next.get(segment);
  const found = fixed ? find(fixed, segments, at + 1) : null;
  if (found || segment === "") return found ?? node.rest;
  return (node.parameter && find(node.parameter, segments, at + 1)) ?? node.rest;
}

export type Dispatch = ((request: Request, socketAddress?: string) => Promise<Response>) & {
  /** The first segments of the paths that it serves, such as "api". */
  readonly roots: ReadonlySet<string>;
  /** Whether it serves a path outside /api. */
  readonly isBesideApi: (path: string) => boolean;
  /** May return a plain reply, which the listener writes itself. */
  readonly plain: (request: Request, socketAddress?: string) => Promise<Reply | Response>;
};

export function createDispatch(mounted: readonly Mounted[]): Dispatch {
  const root = emptyNode();
  for (const one of mounted) add(root, one);
  const choose = (request: Request, socketAddress?: string): Serve => {
    if (socketAddress !== undefined) noteAddress(request, socketAddress);
    const found = find(root, splitUrl(request.url).path.split("/"), 1);
    if (!found) return notFoundRoute;
    // An unknown method is answered like DELETE, which no operation has: with 405, or by what serves all methods of the path.
    return found[Object.hasOwn(found, request.method) ? (request.method as keyof Methods) : "DELETE"];
  };
  const paths = mounted.map(({ path }) => path);
  const beside = new Set(paths.filter((path) => !path.startsWith("/api/")));
  return Object.assign((request: Request, socketAddress?: string) => choose(request, socketAddress)(request), {
    roots: new Set(paths.map((path) => path.split("/", 2)[1] ?? "")),
    isBesideApi: (path: string) => beside.has(path),
    plain: (request: Request, socketAddress?: string) => {
      const serve = choose(request, socketAddress);
      return serve.plain ? serve.plain(request) : serve(request);
    },
  });
}
