import { useEffect, useState } from "react";

export const KEYS_PATH = "/.well-known/jwks.json";

/** The published keys of the service that serves this page; null while they load and if loading fails. */
export function usePublishedKeys(): string | null {
  const [keys, setKeys] = useState<string | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    const load = async () => {
      const reply = await fetch(KEYS_PATH, { signal: leaving.signal, credentials: "omit" });
      // Read the body in any case, because a body that is not read keeps its request open.
      const text = await reply.text();
      if (reply.ok) setKeys(text);
    };
    // If the keys cannot be loaded, the reader can paste them, so ignore the error.
    load().catch(() => {});
    return () => leaving.abort();
  }, []);
  return keys;
}
