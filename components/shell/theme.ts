/** The theme that the person chose for this browser. Without a choice, the system's theme applies. */
export type Theme = "light" | "dark";

/** The cookie that stores the theme. The service reads it, so that the page has the right colours before any script runs. */
export const THEME_COOKIE = "theme";

const YEAR_SECONDS = 31_536_000;

export const themeOf = (value: string | undefined): Theme | undefined =>
  value === "light" || value === "dark" ? value : undefined;

const listeners = new Set<() => void>();

export const onTheme = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Browser only. */
export const currentTheme = (): Theme | undefined => themeOf(document.documentElement.dataset["theme"]);

/** Sets this browser's theme now and for later pages. Browser only. */
export function applyTheme(theme: Theme | undefined): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const age = theme === undefined ? 0 : YEAR_SECONDS;
  // oxlint-disable-next-line unicorn/no-document-cookie -- the Cookie Store is not in every browser
  document.cookie = `${THEME_COOKIE}=${theme ?? ""}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  if (theme === undefined) delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  for (const listener of listeners) listener();
}
