import { noteRun } from "#lib/platform/worker-runs.ts";
import { log } from "#lib/telemetry/log.ts";
import { atMost, minutes } from "#lib/time.ts";

/** The time limit of a run, longer than any run needs. Without it, a run that never ends would stop its worker forever. */
const RUN_MAX_MS = minutes(5);
/** The minimum pause after a run that threw an error, so that an unreachable database gets fewer queries. */
const AFTER_FAILURE_MS = 2_000;

export type Worker = { stop(): Promise<void>; wake(): void };

type Options = {
  /** The pause after a run that did not fail, in milliseconds. wake() shortens it to the usual pause, `milliseconds`. */
  readonly idleMs?: number;
  readonly runMaxMs?: number;
};

/**
 * Runs a job again and again. The next run begins after the last one has ended, or has taken longer than `runMaxMs`. Jobs also
 * run in other processes at the same time, so two runs at once do no harm. stop() waits for the current run.
 */
export function every(
  milliseconds: number,
  name: string,
  job: () => Promise<unknown>,
  { idleMs = milliseconds, runMaxMs = RUN_MAX_MS }: Options = {},
): Worker {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let woken = false;
  let running: Promise<void> | null = null;
  /** The earliest time of the next run, also if wake() is called before. */
  let soonestAt = 0;
  const run = async (): Promise<void> => {
    let pause = milliseconds;
    let failed = false;
    woken = false;
    try {
      failed =
        (await atMost(
          job().then(() => "ended" as const),
          runMaxMs,
          "late" as const,
        )) === "late";
      if (failed) log().error({ worker: name }, "A worker's run has not ended in time; the next run begins");
    } catch (error) {
      failed = true;
      pause = Math.max(milliseconds, AFTER_FAILURE_MS);
      log().error({ worker: name, error }, "The run of a worker failed; it runs again");
    }
    await noteRun(name, failed);
    running = null;
    soonestAt = performance.now() + pause;
    if (!stopped) plan(failed || woken ? pause : Math.max(pause, idleMs));
  };
  const plan = (pause: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = run();
    }, pause);
  };
  plan(milliseconds);
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
    wake() {
      if (stopped || woken) return;
      woken = true;
      if (running === null) plan(Math.max(0, soonestAt - performance.now()));
    },
  };
}
