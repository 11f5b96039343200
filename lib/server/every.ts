import { noteRun } from "#lib/installation/worker-runs.ts";
import { log } from "#lib/telemetry/log.ts";
import { atMost, minutes } from "#lib/time.ts";

/** Without a time limit, a run that never ends would stop its worker forever. */
const RUN_MAX_MS = minutes(5);
/** The minimum pause after an error, so that an unreachable database gets fewer queries. */
const AFTER_FAILURE_MS = 2_000;

export type Worker = { stop(): Promise<void>; wake(): void };

type Options = {
  /** The pause after a run that did not fail. wake() shortens it to `milliseconds`. */
  readonly idleMs?: number;
  readonly runMaxMs?: number;
};

/** Two runs at once, also in different processes, must do no harm: the next run begins after the last one ended or is late. */
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
