"use client";

import { useState } from "react";
import { useHydrated } from "#components/ui/hydrated.ts";
import { THEME_COOKIE, themeOf, type Theme } from "./theme.ts";

const YEAR_SECONDS = 31_536_000;

function apply(theme: Theme | undefined): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const age = theme === undefined ? 0 : YEAR_SECONDS;
  // oxlint-disable-next-line unicorn/no-document-cookie -- the server reads it; the Cookie Store is not in every browser
  document.cookie = `${THEME_COOKIE}=${theme ?? ""}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  if (theme === undefined) delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

/** System, light or dark. */
export function ThemeSwitch({ theme }: { readonly theme: Theme | undefined }) {
  const hydrated = useHydrated();
  const [chosen, setChosen] = useState(theme);
  return (
    <label className="theme">
      Theme
      <select
        value={chosen ?? ""}
        disabled={!hydrated}
        onChange={({ target }) => {
          const next = themeOf(target.value);
          apply(next);
          setChosen(next);
        }}
      >
        <option value="">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
