"use client";

import { useEffect } from "react";

/** Registers the service worker. Browsers offer one only over https and on this machine. */
export function RegisterWorker() {
  useEffect(() => {
    // Pages work without the worker, so ignore a browser that refuses it.
    navigator.serviceWorker?.register("/sw.js").catch(() => {});
  }, []);
  return null;
}
