import { perProcess } from "#lib/process.ts";

type PagesProbe = { up: (() => boolean) | null };

const known = () => perProcess<PagesProbe>("pagesUp", () => ({ up: null }));

/** Sets the function by which readiness checks whether the pages process answers. */
export const watchPages = (up: () => boolean): void => void (known().up = up);

/** Whether the pages process answers; null if this process serves no pages. */
export const pagesUp = (): boolean | null => known().up?.() ?? null;
