const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);
/** Browsers, mail programs or telephones handle these schemes, so they are not the scheme of a client. */
const BROWSER_SCHEMES = /^(?:https?|javascript|data|blob|file|filesystem|about|vbscript|view-source|ws|wss|ftp|mailto|tel):$/;

export const isLoopback = (url: URL): boolean => url.protocol === "http:" && LOOPBACK.has(url.hostname);

/** Why codes cannot be sent to the URL; null for https, http on the person's own device, or an installed program's scheme. */
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

/** Shows a person who receives the codes: a host, a program on the person's device, or the scheme of a program. */
export function redirectPlace(text: string): { readonly kind: "device" | "host" | "app"; readonly name: string } {
  const url = new URL(text);
  if (isLoopback(url)) return { kind: "device", name: url.host };
  return url.protocol === "https:" ? { kind: "host", name: url.host } : { kind: "app", name: url.protocol };
}
