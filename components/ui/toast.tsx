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

/** Shows a short message for some seconds; show results about money on the page instead. */
export function toast(text: string): void {
  change([...waiting, text]);
}

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
