import { isIP } from "node:net";
import { env } from "#lib/env.ts";
import { ownOrigins } from "#lib/http/origin.ts";

/** Whom passkeys are made for: the one host of this installation. */
export function relyingParty(): { readonly id: string; readonly name: string; readonly origins: string[] } {
  return { id: new URL(env().BASE_URL).hostname, name: "Countersign", origins: [...ownOrigins()] };
}

/** Browsers offer passkeys to names, over https or on the reader's own computer, and to nothing else. */
export function passkeysWork(): boolean {
  const { protocol, hostname } = new URL(env().BASE_URL);
  return hostname === "localhost" || (protocol === "https:" && isIP(hostname.replace(/^\[|\]$/g, "")) === 0);
}

/** EdDSA, ES256 and RS256: what better-auth's older verification knows as well. A key of another kind could never sign in. */
export const algorithms = [-8, -7, -257];
