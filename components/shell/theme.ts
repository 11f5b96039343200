/** The look that a person chose for this browser. Without one it is the system's. */
export type Theme = "light" | "dark";

/** The server reads it, so the first paint has the right colours and needs no script. */
export const THEME_COOKIE = "theme";

export const themeOf = (value: string | undefined): Theme | undefined =>
  value === "light" || value === "dark" ? value : undefined;
