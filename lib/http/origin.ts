import { env } from "#lib/env.ts";

/**
 * Returns the same origin with the other name of this machine (localhost or 127.0.0.1). Null outside of a sandbox, and for an
 * origin with any other host name.
 */
function alias(origin: string): string | null {
  const url = new URL(origin);
  const other = url.hostname === "localhost" ? "127.0.0.1" : url.hostname === "127.0.0.1" ? "localhost" : null;
  if (other === null || env().ENVIRONMENT !== "sandbox") return null;
  url.hostname = other;
  return url.origin;
}

/** The origins whose pages may act for a signed-in person: BASE_URL and, in a sandbox, the other local name of the machine. */
export function ownOrigins(): readonly string[] {
  const { BASE_URL } = env();
  const other = alias(BASE_URL);
  return other === null ? [BASE_URL] : [BASE_URL, other];
}

export const isOwnOrigin = (origin: string | null): boolean => origin !== null && ownOrigins().includes(origin);
