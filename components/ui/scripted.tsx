"use client";

import type { ReactNode } from "react";
import { useHydrated } from "./hydrated.ts";

/** Fields that the page's scripts hold: what is typed or chosen before they run would be lost, so they wait for them. */
export const Scripted = ({ children }: { readonly children: ReactNode }) => (
  <fieldset className="contents" disabled={!useHydrated()}>
    {children}
  </fieldset>
);
