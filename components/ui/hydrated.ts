import { useSyncExternalStore } from "react";

const never = () => () => {};

/** Whether the page's scripts run. False on the server too. Controls that need scripts are disabled until then. */
export const useHydrated = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
