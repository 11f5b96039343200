"use client";

import { useEffect } from "react";

/** Registers the service worker. Browsers allow one only on https pages and on this machine. */
export function RegisterWorker() {
  useEffect(() => {
    // Pages work without the service worker too, so ignore the error if the browser refuses it.
    navigator.serviceWorker?.register("/sw.js").catch(() => {});
  }, []);
  return null;
}
