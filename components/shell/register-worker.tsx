"use client";

import { useEffect } from "react";

export function RegisterWorker() {
  useEffect(() => {
    // Pages work without the service worker too, so ignore the error if the browser refuses it.
    navigator.serviceWorker?.register("/sw.js").catch(() => {});
  }, []);
  return null;
}
