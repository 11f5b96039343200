import { perProcess } from "#lib/process.ts";

type PagesProbe = { up: (() => boolean) | null };

const known = () => perProcess<PagesProbe>("health/pages", () => ({ up: null }));

export const watchPages = (up: () => boolean): void => void (known().up = up);

/** Null if this process serves no pages. */
export const pagesUp = (): boolean | null => known().up?.() ?? null;
