import { APP_SCHEMES, isAppScheme } from "#lib/identity/oauth/metadata/app-schemes.ts";

const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);

export const isLoopback = (url: URL): boolean => url.protocol === "http:" && LOOPBACK.has(url.hostname);

/** Why codes cannot be sent to the URL; null for https, http on the person's own device, or an installed program's scheme. */
export function redirectRefusal(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return "This is not an absolute address.";
  if (text.includes("#")) return "A redirect address must not have a fragment.";
  if (url.username !== "" || url.password !== "") return "A redirect address must not have a user name.";
  if (text.includes("*") || /[\s\\\p{C}]/u.test(text)) return "Write the exact address, without wildcards.";
  if (url.protocol === "https:" || isLoopback(url) || isAppScheme(url.protocol)) return null;
  if (url.protocol === "http:") return "Use https, or http on 127.0.0.1, [::1] or localhost.";
  return "Codes are sent only to https, to http on the person's device, and to schemes of programs: a reversed domain such as com.example.app, or one that this service knows.";
}

/** Shows a person who receives the codes: a host, a program on the person's device, or the scheme of a program. */
export function redirectPlace(text: string): { readonly kind: "device" | "host" | "app"; readonly name: string } {
  const url = new URL(text);
  if (isLoopback(url)) return { kind: "device", name: url.host };
  if (url.protocol === "https:") return { kind: "host", name: url.host };
  return { kind: "app", name: APP_SCHEMES.get(url.protocol.slice(0, -1)) ?? url.protocol };
}
