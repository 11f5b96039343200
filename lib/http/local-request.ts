import type { IncomingMessage } from "node:http";

/** On a page's request: "1" when it comes from this machine itself. What clients send under this name is dropped. */
export const LOCAL_HEADER = "x-countersign-local";

const ADDRESSES = /^(?:127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/;
const HOSTS = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;
const FORWARDED = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/**
 * Whether a request comes from this machine: the socket is loopback's, no proxy handed it on, and it was sent to a name of this machine,
 * which a page of elsewhere that resolves here (DNS rebinding) was not.
 */
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

/** Writes it down for the page. Before the framework sees the request, which adds headers of its own. */
export function noteLocal(incoming: IncomingMessage): void {
  incoming.headers[LOCAL_HEADER] = isLocalRequest(incoming) ? "1" : "0";
}
