"use client";

import { type ReactNode, useEffect, useState } from "react";
import { announce } from "./announcements.tsx";

type Props<T> = {
  readonly wanted: boolean;
  readonly load: () => Promise<T>;
  /** Called if the load failed; the caller then sets `wanted` to false, so that the next attempt loads the code again. */
  readonly giveUp?: () => void;
  readonly meanwhile?: ReactNode;
  readonly children: (part: T) => ReactNode;
};

/** Loads a part of the page when `wanted` is first true and then keeps it; announces a failure to screen readers. */
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

/** Event handlers that load the code when the focus or the pointer enters their element. */
export const early = (load: () => Promise<unknown>) => {
  const fetchEarly = () => void load().catch(() => null);
  return { onFocus: fetchEarly, onPointerEnter: fetchEarly };
};
