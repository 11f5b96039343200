import { env } from "#lib/env.ts";

/** The origin with the other local name. Null outside of a sandbox and for other hosts. */
function alias(origin: string): string | null {
  const url = new URL(origin);
  const other = url.hostname === "localhost" ? "127.0.0.1" : url.hostname === "127.0.0.1" ? "localhost" : null;
  if (other === null || env().ENVIRONMENT !== "sandbox") return null;
  url.hostname = other;
  return url.origin;
}

/** Pages of these origins may act for a signed-in person. */
export function ownOrigins(): readonly string[] {
  const { BASE_URL } = env();
  const other = alias(BASE_URL);
  return other === null ? [BASE_URL] : [BASE_URL, other];
}

export const isOwnOrigin = (origin: string | null): boolean => origin !== null && ownOrigins().includes(origin);
