import { useSyncExternalStore } from "react";

const never = () => () => {};

/** False on the server and until the page's scripts run. Controls that need scripts wait for it. */
export const useHydrated = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
