import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { freePort } from "#test/free-port.ts";

export type RunningServer = {
  readonly url: string;
  readonly child: ChildProcess;
  /** What the process has written to standard error so far. */
  said(): string;
  /** Resolves when the process ends, with its exit code, or null if a signal ended it. */
  readonly ended: Promise<number | null>;
};

/**
 * Runs the real server until the test ends. Resolves when the server listens or has exited. With `pages` it also serves the
 * pages, and may build them first.
 */
export async function runServer(variables: Record<string, string>, { pages = false } = {}): Promise<RunningServer> {
  const dataDir = variables["DATA_DIR"] ?? (await mkdtemp(join(tmpdir(), "countersign-test-")));
  const port = await freePort();
  const child = spawn(process.execPath, ["server.ts", ...(pages ? [] : ["--api"])], {
    env: { ...process.env, BASE_URL: `http://localhost:${port}`, DATA_DIR: dataDir, PORT: String(port), ...variables },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const listening = new Promise<void>((done) => {
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("(ready in")) done();
    });
  });
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
    if (!variables["DATA_DIR"]) await rm(dataDir, { recursive: true, force: true });
  });
  await Promise.race([listening, ended]);
  return { url: `http://127.0.0.1:${port}`, child, said: () => said, ended };
}
