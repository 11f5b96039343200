/** Limits each test, and each wait for the start of a process, on a machine that does other work. */
export const RUN_MS = 15 * 60_000;
