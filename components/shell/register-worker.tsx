"use client";

import { useEffect } from "react";

/** Starts the service worker where the browser has one: over https, and on this machine. */
export function RegisterWorker() {
  useEffect(() => {
    // Without it pages work as before, so a browser that refuses is left alone.
    navigator.serviceWorker?.register("/sw.js").catch(() => {});
  }, []);
  return null;
}
