"use client";

import { type ReactNode, useEffect, useState } from "react";
import { announce } from "./announcements.tsx";

type Props<T> = {
  readonly wanted: boolean;
  readonly load: () => Promise<T>;
  /** Called if the code could not be loaded. The caller then sets `wanted` to false, so that the next attempt loads it again. */
  readonly giveUp?: () => void;
  /** Shown until the code is loaded. */
  readonly meanwhile?: ReactNode;
  readonly children: (part: T) => ReactNode;
};

/**
 * A part of the page that is loaded when `wanted` is first true, and then kept. A failure to load is announced to screen
 * readers.
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

/**
 * Event handlers for a control or a form that needs code which is loaded on demand. They load the code when the focus or the
 * pointer enters it.
 */
export const early = (load: () => Promise<unknown>) => {
  const fetchEarly = () => void load().catch(() => null);
  return { onFocus: fetchEarly, onPointerEnter: fetchEarly };
};
