import { perProcess } from "#lib/process.ts";

type Lifecycle = { stopping: boolean; pages: (() => boolean) | null };

const lifecycle = () => perProcess<Lifecycle>("health/lifecycle", () => ({ stopping: false, pages: null }));

/** Makes readiness fail, so that load balancers send requests elsewhere. */
export const noteStopping = (): void => void (lifecycle().stopping = true);

export const isStopping = (): boolean => lifecycle().stopping;

export const watchPages = (up: () => boolean): void => void (lifecycle().pages = up);

/** Null if this process serves no pages. */
export const pagesUp = (): boolean | null => lifecycle().pages?.() ?? null;
