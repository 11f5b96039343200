"use client";

import { useSyncExternalStore } from "react";

let said = "";
const listeners = new Set<() => void>();

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Says a sentence to those who listen to the page instead of seeing it. */
export function announce(text: string): void {
  // A live region is silent when its text stays the same.
  said = said === text ? `${text}\u00A0` : text;
  for (const listener of listeners) listener();
}

export function Announcements() {
  const text = useSyncExternalStore(
    subscribe,
    () => said,
    () => "",
  );
  return <output className="sr">{text}</output>;
}
