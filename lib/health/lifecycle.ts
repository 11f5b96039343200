import { perProcess } from "#lib/process.ts";

const lifecycle = () => perProcess("lifecycle", () => ({ stopping: false }));

/** Makes this process report that it is not ready, so that load balancers send their requests elsewhere. */
export const noteStopping = (): void => void (lifecycle().stopping = true);

export const isStopping = (): boolean => lifecycle().stopping;
