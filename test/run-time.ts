/** The length of a whole run, which limits each test and each wait for the start of a process. */
export const RUN_MS = 30 * 60_000;
