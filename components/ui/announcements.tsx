"use client";

import { useSyncExternalStore } from "react";

let said = "";
const listeners = new Set<() => void>();

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export function announce(text: string): void {
  // A screen reader speaks only if the text changes, so add a space to a repeated sentence.
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
