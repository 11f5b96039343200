"use client";

import { useEffect } from "react";

/** Shows the number of requests that wait for approval on the icon of the installed app. */
export function AppBadge({ count }: { readonly count: number }) {
  useEffect(() => {
    // Only an installed app has an icon for a badge. Some browsers refuse to show one, so ignore the error.
    if (matchMedia("(display-mode: standalone)").matches) navigator.setAppBadge?.(count).catch(() => {});
  }, [count]);
  return null;
}
