"use client";

import { useEffect } from "react";

export function AppBadge({ count }: { readonly count: number }) {
  useEffect(() => {
    // Only an installed app has an icon for a badge. Some browsers refuse to show one, so ignore the error.
    if (matchMedia("(display-mode: standalone)").matches) navigator.setAppBadge?.(count).catch(() => {});
  }, [count]);
  return null;
}
