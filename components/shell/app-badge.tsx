"use client";

import { useEffect } from "react";

/** Shows the number of waiting requests on the icon of the installed app. */
export function AppBadge({ count }: { readonly count: number }) {
  useEffect(() => {
    // A tab has no icon of its own, and a browser that shows no badges refuses.
    if (matchMedia("(display-mode: standalone)").matches) navigator.setAppBadge?.(count).catch(() => {});
  }, [count]);
  return null;
}
