import { useRouter } from "next/navigation";
import { useEffect, useSyncExternalStore } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { call, ProblemError } from "#lib/http/client.ts";
import { getCheckout } from "./calls.ts";

const WAIT_SECONDS = "25";
/** The pause between two calls of getCheckout, because the service may answer before the wait of `WAIT_SECONDS` is over. */
const PAUSE_MS = 500;
const AFTER_ERROR_MS = 5_000;
/** How often the page is refreshed for people who may decide but may not call getCheckout. */
const REFRESH_MS = 1_000;

const subscribe = (changed: () => void) => {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
};

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

const open: ReadonlySet<string> = new Set(["previewed", "awaiting_approval"]);

type Followed = { readonly checkoutIntentId: string; readonly expiresAt: string };
type Outcome = "closed" | "extended" | "unreadable" | "gone";

async function untilChanged({ checkoutIntentId, expiresAt }: Followed, signal: AbortSignal): Promise<Outcome> {
  while (!signal.aborted) {
    try {
      const { intent } = await call(getCheckout, { checkoutIntentId, query: { waitSeconds: WAIT_SECONDS } }, { signal });
      if (!open.has(intent.status)) return "closed";
      if (intent.expiresAt !== expiresAt) return "extended";
      await pause(PAUSE_MS);
    } catch (error) {
      const status = error instanceof ProblemError ? error.problem.status : 0;
      if (status === 403) return "unreadable";
      // The checkout can no longer be read, for example because the session has ended.
      if (status === 401 || status === 404) return "gone";
      await pause(AFTER_ERROR_MS);
    }
  }
  return "gone";
}

/** Refreshes the visible page when status or expiry of the checkout changes, or if it can no longer be read. */
export function useFollow({ checkoutIntentId, expiresAt }: Followed, following: boolean): void {
  const router = useRouter();
  const visible = useSyncExternalStore(
    subscribe,
    () => document.visibilityState === "visible",
    () => false,
  );
  useEffect(() => {
    if (!visible || !following) return undefined;
    const end = new AbortController();
    let timer: ReturnType<typeof setInterval> | undefined;
    void untilChanged({ checkoutIntentId, expiresAt }, end.signal).then((outcome) => {
      if (end.signal.aborted) return;
      if (outcome === "closed") announce("This request was decided elsewhere.");
      router.refresh();
      if (outcome === "unreadable") timer = setInterval(() => router.refresh(), REFRESH_MS);
    });
    return () => {
      clearInterval(timer);
      end.abort();
    };
  }, [checkoutIntentId, expiresAt, visible, following, router]);
}
