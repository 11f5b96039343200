import { useRouter } from "next/navigation";
import { useEffect, useSyncExternalStore } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { call, ProblemError } from "#lib/http/client.ts";
import { getCheckout } from "./calls.ts";

const WAIT_SECONDS = "25";
/** Between two requests, also if the service answers at once. */
const PAUSE_MS = 500;
const AFTER_ERROR_MS = 5_000;

const subscribe = (changed: () => void) => {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
};

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

const open: ReadonlySet<string> = new Set(["previewed", "awaiting_approval"]);

/** Waits for the end of a checkout. Returns early if the signal aborts. */
async function untilClosed(checkoutIntentId: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { intent } = await call(getCheckout, { checkoutIntentId, query: { waitSeconds: WAIT_SECONDS } }, { signal });
      if (!open.has(intent.status)) return;
      await pause(PAUSE_MS);
    } catch (error) {
      // The session or the right to read is gone: the page, read again, says so.
      if (error instanceof ProblemError && [401, 403, 404].includes(error.problem.status)) return;
      await pause(AFTER_ERROR_MS);
    }
  }
}

/** Reads the page again when somebody else decides, while it is visible and `following`. */
export function useFollow(checkoutIntentId: string, following: boolean): void {
  const router = useRouter();
  const visible = useSyncExternalStore(
    subscribe,
    () => document.visibilityState === "visible",
    () => false,
  );
  useEffect(() => {
    if (!visible || !following) return undefined;
    const end = new AbortController();
    void untilClosed(checkoutIntentId, end.signal).then(() => {
      if (end.signal.aborted) return;
      announce("This request was decided elsewhere.");
      router.refresh();
    });
    return () => end.abort();
  }, [checkoutIntentId, visible, following, router]);
}
