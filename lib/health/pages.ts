import { perProcess } from "#lib/process.ts";

type PagesProbe = { up: (() => boolean) | null };

const known = () => perProcess<PagesProbe>("pagesUp", () => ({ up: null }));

/** Tells readiness how to find out whether the pages process answers. */
export const watchPages = (up: () => boolean): void => void (known().up = up);

/** Null where this process serves no pages. */
export const pagesUp = (): boolean | null => known().up?.() ?? null;
