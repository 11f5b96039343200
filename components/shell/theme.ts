/** The look that a person chose for this browser. Without one it is the system's. */
export type Theme = "light" | "dark";

/** The server reads it, so the first paint has the right colours and needs no script. */
export const THEME_COOKIE = "theme";

const YEAR_SECONDS = 31_536_000;

export const themeOf = (value: string | undefined): Theme | undefined =>
  value === "light" || value === "dark" ? value : undefined;

const listeners = new Set<() => void>();

export const onTheme = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** What the page shows now. In a browser only. */
export const currentTheme = (): Theme | undefined => themeOf(document.documentElement.dataset["theme"]);

/** Sets the look of this browser, at once and for the next pages. In a browser only. */
export function applyTheme(theme: Theme | undefined): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const age = theme === undefined ? 0 : YEAR_SECONDS;
  // oxlint-disable-next-line unicorn/no-document-cookie -- the Cookie Store is not in every browser
  document.cookie = `${THEME_COOKIE}=${theme ?? ""}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  if (theme === undefined) delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  for (const listener of listeners) listener();
}
