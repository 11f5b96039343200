import ipaddr from "ipaddr.js";

/** The lower half of an IPv6 address, which better-auth stores as zeros. */
const HIDDEN_BITS = 64;

/** The stored address of a session in its short form; an IPv6 address as its network. Null if nothing is known. */
export function addressText(stored: string | null): string | null {
  if (stored === null || !ipaddr.isValid(stored)) return null;
  const address = ipaddr.process(stored);
  if (address.range() === "loopback" || address.range() === "unspecified") return "This computer";
  const isNetwork =
    address.kind() === "ipv6" &&
    address
      .toByteArray()
      .slice(HIDDEN_BITS / 8)
      .every((byte) => byte === 0);
  return isNetwork ? `${address.toString()}/${HIDDEN_BITS}` : address.toString();
}
