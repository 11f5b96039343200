import { isIPv4, isIPv6 } from "node:net";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

/** Tells the pages and better-auth the client's network address. A value that a client sends is not used. */
export const ADDRESS_HEADER = "x-countersign-address";

const sockets = (): WeakMap<Request, string> => perProcess("http/address", () => new WeakMap());

/** The standard class Request does not have the address of its connection. */
export const noteAddress = (request: Request, address: string): void => {
  sockets().set(request, address);
};

/** The address at the other end of the connection, whatever the headers say. */
export const socketAddressOf = (request: Request): string | undefined => sockets().get(request);

/** For IPv6 the first 64 bits, because one customer usually controls all addresses that share them. Other text: "unknown". */
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

/** The networks of 56 and 48 bits around an IPv6 network of networkOf: one customer often controls such a network. Else empty. */
export function widerNetworks(network: string): readonly string[] {
  const [, site, last] = /^([0-9a-f]+:[0-9a-f]+:[0-9a-f]+):([0-9a-f]+)::\/64$/.exec(network) ?? [];
  if (site === undefined || last === undefined) return [];
  const line = Number.parseInt(last, 16) & 0xff00;
  return [`${site}:${line.toString(16)}::/56`, `${site}::/48`];
}

/** Each proxy appends the address that it saw; the client may have forged all entries before the last `hops`. */
export function addressFrom(socket: string, forwardedFor: string | null, hops: number = env().TRUSTED_PROXY_HOPS): string {
  if (hops === 0) return networkOf(socket);
  const forwarded = (forwardedFor ?? "").split(",").map((part) => part.trim());
  const chain = [...forwarded.filter((part) => part !== ""), socket];
  return networkOf(chain[Math.max(0, chain.length - 1 - hops)] ?? socket);
}

export const addressOf = (request: Request, hops?: number): string =>
  addressFrom(socketAddressOf(request) ?? "unknown", request.headers.get("x-forwarded-for"), hops);
