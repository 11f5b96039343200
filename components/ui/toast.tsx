"use client";

import { useSyncExternalStore } from "react";
import { OnDemand } from "./on-demand.tsx";

let waiting: readonly string[] = [];
const listeners = new Set<() => void>();

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

function change(texts: readonly string[]): void {
  waiting = texts;
  for (const listener of listeners) listener();
}

const none: readonly string[] = [];
const clear = () => change(none);
const loadList = () => import("./toast-list.tsx").then(({ ToastList }) => ToastList);

/**
 * Says for a few seconds that something that can be undone is done, as "Saved". What concerns money stands on the page instead.
 *
 *     toast("Saved as version 4")
 */
export function toast(text: string): void {
  change([...waiting, text]);
}

/** Where toasts appear; once for the whole of the page. What shows them is fetched with the first. */
export function Toasts() {
  const texts = useSyncExternalStore(
    subscribe,
    () => waiting,
    () => none,
  );
  return (
    <OnDemand wanted={texts.length > 0} load={loadList} giveUp={clear}>
      {(List) => <List texts={texts} onShown={clear} />}
    </OnDemand>
  );
}
