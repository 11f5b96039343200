import { perProcess } from "#lib/process.ts";

const lifecycle = () => perProcess("health/lifecycle", () => ({ stopping: false }));

/** Makes readiness fail, so that load balancers send requests elsewhere. */
export const noteStopping = (): void => void (lifecycle().stopping = true);

export const isStopping = (): boolean => lifecycle().stopping;
