import { useSyncExternalStore } from "react";

const never = () => () => {};

/** Whether the page's scripts run already; false on the server. Controls that need scripts are disabled while it is false. */
export const useHydrated = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
