import { afterAll, beforeAll } from "vitest";
import { forget, perProcess } from "#lib/process.ts";
import { createLogger } from "#lib/telemetry/log.ts";

/** The entries that the tested code logs while the tests of this file run, oldest first. */
export function captureLog(): Record<string, unknown>[] {
  const logged: Record<string, unknown>[] = [];
  beforeAll(() => {
    forget("telemetry/log");
    perProcess("telemetry/log", () =>
      createLogger({ write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) }),
    );
  });
  afterAll(() => forget("telemetry/log"));
  return logged;
}
