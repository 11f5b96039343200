import { cookies } from "next/headers";
import { THEME_COOKIE, themeOf, type Theme } from "#components/shell/theme.ts";

/** Undefined if the browser sends no valid theme. */
export const readTheme = async (): Promise<Theme | undefined> => themeOf((await cookies()).get(THEME_COOKIE)?.value);
