"use client";

import { useSyncExternalStore } from "react";
import { useHydrated } from "#components/ui/hydrated.ts";
import { applyTheme, currentTheme, onTheme, themeOf, type Theme } from "./theme.ts";

/** System, light or dark. */
export function ThemeSwitch({ theme }: { readonly theme: Theme | undefined }) {
  const hydrated = useHydrated();
  const chosen = useSyncExternalStore(onTheme, currentTheme, () => theme);
  return (
    <label className="theme">
      Theme
      <select value={chosen ?? ""} disabled={!hydrated} onChange={({ target }) => applyTheme(themeOf(target.value))}>
        <option value="">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
