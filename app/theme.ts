import { cookies } from "next/headers";
import { THEME_COOKIE, themeOf, type Theme } from "#components/shell/theme.ts";

/** The light or dark theme that the reader chose for this browser; undefined if they chose none. */
export const readTheme = async (): Promise<Theme | undefined> => themeOf((await cookies()).get(THEME_COOKIE)?.value);
