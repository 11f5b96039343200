import { isIP } from "node:net";
import { env } from "#lib/env.ts";
import { ownOrigins } from "#lib/http/origin.ts";

export function relyingParty(): { readonly id: string; readonly name: string; readonly origins: string[] } {
  return { id: new URL(env().BASE_URL).hostname, name: "Countersign", origins: [...ownOrigins()] };
}

/** Browsers allow passkeys only for host names, over https or on localhost. */
export function passkeysWork(): boolean {
  const { protocol, hostname } = new URL(env().BASE_URL);
  return hostname === "localhost" || (protocol === "https:" && isIP(hostname.replace(/^\[|\]$/g, "")) === 0);
}

/** EdDSA, ES256 and RS256, as COSE algorithm numbers. */
export const algorithms = [-8, -7, -257];
