"use client";

import { type ReactNode, useEffect, useState } from "react";
import { announce } from "./announcements.tsx";

type Props<T> = {
  readonly wanted: boolean;
  readonly load: () => Promise<T>;
  /** Told that it cannot be fetched, so that it can be wanted again. */
  readonly giveUp?: () => void;
  /** What stands in its place until it is there. */
  readonly meanwhile?: ReactNode;
  readonly children: (part: T) => ReactNode;
};

/**
 * A part of the page that is fetched when it is wanted for the first time, and stays. It is said when it cannot be fetched.
 *
 *     <OnDemand wanted={open} load={loadPopup}>{(Popup) => <Popup open={open} />}</OnDemand>
 */
export function OnDemand<T>({ wanted, load, giveUp, meanwhile = null, children }: Props<T>) {
  const [part, setPart] = useState<{ readonly loaded: T } | null>(null);
  const missing = wanted && part === null;
  useEffect(() => {
    if (!missing) return undefined;
    let current = true;
    load().then(
      (loaded) => current && setPart({ loaded }),
      () => {
        if (!current) return;
        announce("We could not reach the service. Try again.");
        giveUp?.();
      },
    );
    return () => {
      current = false;
    };
  }, [missing, load, giveUp]);
  return part ? children(part.loaded) : meanwhile;
}

/** For what opens a part: fetches it as soon as somebody is about to want it. */
export const early = (load: () => Promise<unknown>) => {
  const fetchEarly = () => void load().catch(() => null);
  return { onFocus: fetchEarly, onPointerEnter: fetchEarly };
};
