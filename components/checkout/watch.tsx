"use client";

import { useRouter } from "next/navigation";
import { useEffect } from "react";

const EVERY_MS = 5_000;

/** Reads the page again while somebody looks at it, so that it shows what the agent has done since. */
export function Watch() {
  const router = useRouter();
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && router.refresh(), EVERY_MS);
    return () => clearInterval(timer);
  }, [router]);
  return null;
}
