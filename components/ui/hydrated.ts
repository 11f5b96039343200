import { useSyncExternalStore } from "react";

const never = () => () => {};

/** Whether the page's scripts run already; false on the server. Controls that need scripts are disabled while it is false. */
export const useHydrated = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );

const MINUTE_MS = 60_000;

/** The time when the component was rendered last, rounded to minutes so that it is stable; null on the server. */
export const useMinute = (): number | null =>
  useSyncExternalStore(
    never,
    () => Math.round(Date.now() / MINUTE_MS) * MINUTE_MS,
    () => null,
  );
