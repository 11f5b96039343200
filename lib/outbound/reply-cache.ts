/** The oldest replies are removed first when the cache exceeds `bytes`. */
export function replyCache<T>({ lifeMs, bytes }: { lifeMs: number; bytes: number }) {
  const kept = new Map<string, { readonly reply: T; readonly size: number; readonly until: number }>();
  let held = 0;

  const drop = (url: string): void => {
    held -= kept.get(url)?.size ?? 0;
    kept.delete(url);
  };

  return {
    get(url: string): T | null {
      const found = kept.get(url);
      if (found && found.until > performance.now()) return found.reply;
      drop(url);
      return null;
    },
    set(url: string, reply: T, size: number): void {
      drop(url);
      if (size > bytes) return;
      kept.set(url, { reply, size, until: performance.now() + lifeMs });
      held += size;
      for (const oldest of kept.keys()) {
        if (held <= bytes) return;
        drop(oldest);
      }
    },
  };
}
