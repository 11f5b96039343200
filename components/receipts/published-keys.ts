import { useEffect, useState } from "react";

export const KEYS_PATH = "/.well-known/jwks.json";

/** The published keys of the service that serves this page; null until they are there, or if it publishes none. */
export function usePublishedKeys(): string | null {
  const [keys, setKeys] = useState<string | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    const load = async () => {
      const reply = await fetch(KEYS_PATH, { signal: leaving.signal, credentials: "omit" });
      // A body that is not read keeps its request open.
      const text = await reply.text();
      if (reply.ok) setKeys(text);
    };
    // Without the service's keys the reader pastes them.
    load().catch(() => {});
    return () => leaving.abort();
  }, []);
  return keys;
}
