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
 * Shows a message such as "Saved" for a few seconds, for actions that can be undone. Show results about money on the page instead.
 *
 *     toast("Saved as version 4")
 */
export function toast(text: string): void {
  change([...waiting, text]);
}

/** Shows the messages of toast(). Each page renders it once. The code of the list is loaded with the first message. */
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
