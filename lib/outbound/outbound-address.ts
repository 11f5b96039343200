import { isPublicRoutableHost } from "@better-auth/core/utils/host";
import ipaddr from "ipaddr.js";
import { isLocalName } from "#lib/outbound/local-name.ts";

export type OutboundRules = {
  /** The host:port pairs of this machine that the service may call in a sandbox, also by http. */
  readonly loopback: readonly string[];
  /** The service's own origins. They are refused, because a caller must not make the service call itself. */
  readonly own: readonly string[];
};

export type Target =
  | { readonly ok: true; readonly url: URL; readonly loopback: boolean }
  | { readonly ok: false; readonly detail: string };

const URL_MAX = 2_048;
const PORTS = new Set(["", "443", "8443"]);
const LOOPBACK_NAME = /^(localhost|127\.0\.0\.1|\[::1\])$/;

const refused = (detail: string): Target => ({ ok: false, detail });

const portOf = (url: URL): string => url.port || (url.protocol === "https:" ? "443" : "80");

/** localhost and its addresses are the same host: listing one of them allows the others on that port. */
function isListed({ hostname, port }: { hostname: string; port: string }, loopback: readonly string[]): boolean {
  if (loopback.includes(`${hostname}:${port}`)) return true;
  return (
    LOOPBACK_NAME.test(hostname) &&
    loopback.some((entry) => {
      const colon = entry.lastIndexOf(":");
      return entry.slice(colon + 1) === port && LOOPBACK_NAME.test(entry.slice(0, colon));
    })
  );
}

/** `URL.parse` normalizes every spelling of an IPv4 address, so check its host. Names are checked again once resolved. */
export function outboundTarget(text: string, { loopback, own }: OutboundRules): Target {
  if (text.length > URL_MAX) return refused("The address is longer than 2,048 characters.");
  const url = URL.parse(text);
  if (!url) return refused("This is not an address.");
  if (url.protocol !== "https:" && url.protocol !== "http:") return refused("The service calls only https addresses.");
  if (url.username !== "" || url.password !== "") return refused("The address must not carry a user name or password.");
  if (url.hostname.endsWith(".")) return refused("Write the host name without a dot at its end.");
  const place = { hostname: url.hostname, port: portOf(url) };
  const ours = own.map((origin) => new URL(origin));
  if (ours.some((one) => one.hostname === place.hostname && portOf(one) === place.port))
    return refused("The address is this service's own.");
  if (isListed(place, loopback)) return { ok: true, url, loopback: true };
  if (ours.some((one) => one.hostname === place.hostname))
    return refused("The address is on the host of this service. In a sandbox, list its host and port in OUTBOUND_LOOPBACK.");
  if (url.protocol !== "https:") return refused("The service calls only https addresses.");
  if (!PORTS.has(url.port)) return refused("The service calls only the ports 443 and 8443.");
  if (!isPublicHost(url.hostname)) return refused("The address does not lead to a public host.");
  return { ok: true, url, loopback: false };
}

/** `hostname` is from a parsed URL: an address in brackets or dots, or a name. */
function isPublicHost(hostname: string): boolean {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  if (ipaddr.isValid(bare)) return isPublicAddress(bare);
  return hostname.includes(".") && !isLocalName(hostname) && isPublicRoutableHost(hostname);
}

const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/** Accepts only plain unicast: no IPv4-mapped, NAT64, 6to4 or Teredo address, even if it embeds a public one. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast" || !isPublicRoutableHost(address)) return false;
  return parsed.kind() === "ipv4" || parsed.match(GLOBAL_IPV6);
}

/** Only listed host:port pairs may resolve to a loopback address. */
export const isLoopbackAddress = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.parse(address).range() === "loopback";
