const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);
/** Schemes that a browser itself understands, so that no program could own them. */
const BROWSER_SCHEMES = /^(?:https?|javascript|data|blob|file|filesystem|about|vbscript|view-source|ws|wss|ftp|mailto|tel):$/;

/** Whether the address is of a program on the person's own device. */
export const isLoopback = (url: URL): boolean => url.protocol === "http:" && LOOPBACK.has(url.hostname);

/**
 * Why an address cannot get authorization codes; null if it can. Codes go to https, to a program on the person's own device, or to a
 * program that owns a scheme of its own.
 */
export function redirectRefusal(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return "This is not an absolute address.";
  if (text.includes("#")) return "An address for codes has no fragment.";
  if (url.username !== "" || url.password !== "") return "An address for codes has no user name.";
  if (text.includes("*") || /[\s\\]/.test(text)) return "Write the exact address, without wildcards.";
  if (url.protocol === "https:" || isLoopback(url)) return null;
  if (url.protocol === "http:") return "Use https, or http on 127.0.0.1, [::1] or localhost.";
  return BROWSER_SCHEMES.test(url.protocol) ? "Codes cannot go to this scheme." : null;
}

/** Where codes go, as a person reads it: a host, this device, or the program that owns a scheme. */
export function redirectPlace(text: string): { readonly kind: "device" | "host" | "app"; readonly name: string } {
  const url = new URL(text);
  if (isLoopback(url)) return { kind: "device", name: url.host };
  return url.protocol === "https:" ? { kind: "host", name: url.host } : { kind: "app", name: url.protocol };
}
