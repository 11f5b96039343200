import { log } from "#lib/telemetry/log.ts";
import { saveRun } from "#lib/installation/worker-run-store.ts";
import { perProcess } from "#lib/process.ts";

/** Some workers run several times a second. */
const WRITE_EVERY_MS = 15_000;

type RunNote = { at: number; failed: boolean };

const noted = (): Map<string, RunNote> => perProcess("installation/worker-runs", () => new Map());

/** Writes at once when the worker begins to fail or works again; never throws. */
export async function noteRun(worker: string, failed: boolean): Promise<void> {
  const last = noted().get(worker);
  const now = performance.now();
  if (last && last.failed === failed && now - last.at < WRITE_EVERY_MS) return;
  try {
    await saveRun(worker, failed);
    noted().set(worker, { at: now, failed });
  } catch (error) {
    log().warn({ worker, error }, "A worker's run could not be written down");
  }
}
