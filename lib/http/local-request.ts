import type { IncomingMessage } from "node:http";

/** "1" if a page's request comes from this machine. A value that a client sends is replaced. */
export const LOCAL_HEADER = "x-countersign-local";

const ADDRESSES = /^(?:127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/;
const HOSTS = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;
const FORWARDED = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/** The check of the Host header stops DNS rebinding. */
export function isLocal(
  socketAddress: string | undefined,
  header: (name: string) => string | string[] | null | undefined,
): boolean {
  const host = header("host");
  return (
    ADDRESSES.test(socketAddress ?? "") &&
    typeof host === "string" &&
    HOSTS.test(host) &&
    FORWARDED.every((name) => (header(name) ?? null) === null)
  );
}

type Incoming = Pick<IncomingMessage, "headers"> & { readonly socket: { readonly remoteAddress?: string | undefined } };

export const isLocalRequest = ({ headers, socket }: Incoming): boolean => isLocal(socket.remoteAddress, (name) => headers[name]);

/** Call it before Next.js sees the request, because Next.js adds its own headers. */
export function noteLocal(incoming: IncomingMessage): void {
  incoming.headers[LOCAL_HEADER] = isLocalRequest(incoming) ? "1" : "0";
}
