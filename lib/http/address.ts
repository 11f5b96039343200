import { isIPv4, isIPv6 } from "node:net";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

/** The header with the client address that this server determined. The server removes a value that a client sends. */
export const ADDRESS_HEADER = "x-countersign-address";

const sockets = (): WeakMap<Request, string> => perProcess("addresses", () => new WeakMap());

/** Stores the socket address of a request, because a web-standard Request does not have it. */
export const noteAddress = (request: Request, address: string): void => {
  sockets().set(request, address);
};

/** The address of the socket itself, whatever headers say. */
export const socketAddressOf = (request: Request): string | undefined => sockets().get(request);

/**
 * The network of an address: an IPv4 address itself, or the /64 of an IPv6 address, because one customer controls all addresses of a /64.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*$/, "");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped) return mapped;
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return "unknown";
  const [head = "", tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const rest = tail === "" ? [] : tail.split(":");
    groups.push(...Array.from({ length: 8 - groups.length - rest.length }, () => "0"), ...rest);
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/**
 * The client's network address. In X-Forwarded-For only the entries of configured proxies count: each proxy appends the address that it
 * saw, so the client's entry is `hops` places from the end. The client may have forged earlier entries.
 */
export function addressFrom(socket: string, forwardedFor: string | null, hops: number = env().TRUSTED_PROXY_HOPS): string {
  if (hops === 0) return networkOf(socket);
  const forwarded = (forwardedFor ?? "").split(",").map((part) => part.trim());
  const chain = [...forwarded.filter((part) => part !== ""), socket];
  return networkOf(chain[Math.max(0, chain.length - 1 - hops)] ?? socket);
}

export const addressOf = (request: Request, hops?: number): string =>
  addressFrom(socketAddressOf(request) ?? "unknown", request.headers.get("x-forwarded-for"), hops);
