const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);
/** URL schemes that browsers handle themselves. An installed program cannot register one of them to receive codes. */
const BROWSER_SCHEMES = /^(?:https?|javascript|data|blob|file|filesystem|about|vbscript|view-source|ws|wss|ftp|mailto|tel):$/;

/** Whether this is an http URL on the person's own device (a loopback address). */
export const isLoopback = (url: URL): boolean => url.protocol === "http:" && LOOPBACK.has(url.hostname);

/**
 * Returns the reason why authorization codes cannot be sent to a URL, or null if they can. Codes can be sent to an https URL,
 * to a program on the person's own device (isLoopback), or to a program that has registered a URL scheme.
 */
export function redirectRefusal(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return "This is not an absolute address.";
  if (text.includes("#")) return "A redirect address must not have a fragment.";
  if (url.username !== "" || url.password !== "") return "A redirect address must not have a user name.";
  if (text.includes("*") || /[\s\\]/.test(text)) return "Write the exact address, without wildcards.";
  if (url.protocol === "https:" || isLoopback(url)) return null;
  if (url.protocol === "http:") return "Use https, or http on 127.0.0.1, [::1] or localhost.";
  return BROWSER_SCHEMES.test(url.protocol) ? "Authorization codes cannot be sent to an address with this scheme." : null;
}

/**
 * Returns the place to which codes are sent, to be shown to a person: a host, the person's device, or the scheme of a program.
 */
export function redirectPlace(text: string): { readonly kind: "device" | "host" | "app"; readonly name: string } {
  const url = new URL(text);
  if (isLoopback(url)) return { kind: "device", name: url.host };
  return url.protocol === "https:" ? { kind: "host", name: url.host } : { kind: "app", name: url.protocol };
}
