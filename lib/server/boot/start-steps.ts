import { setTimeout as pause } from "node:timers/promises";
import { mayPass, toldCauses } from "#lib/db/failure.ts";
import { minutes } from "#lib/time.ts";

const PAUSE_MIN_MS = 250;
const PAUSE_MAX_MS = 5_000;

export type Steps = <T>(step: () => Promise<T>) => Promise<T>;

/** Repeats a step of the start for up to `mostMs` while a slow or lost database fails it. `isEnding` ends the repetition. */
export const untilDone =
  (say: (line: string) => void, isEnding: () => boolean = () => false, mostMs = minutes(1)): Steps =>
  async (step) => {
    const until = performance.now() + mostMs;
    for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2)) {
      try {
        return await step();
      } catch (error) {
        if (!mayPass(error) || isEnding() || performance.now() >= until) throw error;
        say(`${toldCauses(error)} Trying again.`);
        await pause(pauseMs);
      }
    }
  };
