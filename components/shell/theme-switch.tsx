"use client";

import { useSyncExternalStore } from "react";
import { useHydrated } from "#components/ui/hydrated.ts";
import { applyTheme, currentTheme, onTheme, themeOf, type Theme } from "./theme.ts";

export function ThemeSwitch({ theme }: { readonly theme: Theme | undefined }) {
  const hydrated = useHydrated();
  const chosen = useSyncExternalStore(onTheme, currentTheme, () => theme);
  return (
    <label className="flex items-center justify-between gap-2 px-3 text-sm text-muted">
      Theme
      <select
        className="min-h-8 w-auto border-border py-0.5 text-sm text-text"
        value={chosen ?? ""}
        disabled={!hydrated}
        onChange={({ target }) => applyTheme(themeOf(target.value))}
      >
        <option value="">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
