"use client";

import type { ReactNode } from "react";
import { useHydrated } from "./hydrated.ts";

/** Disables the fields inside until the page's scripts run, because earlier input would be lost. */
export const Scripted = ({ children }: { readonly children: ReactNode }) => (
  <fieldset className="contents" disabled={!useHydrated()}>
    {children}
  </fieldset>
);
