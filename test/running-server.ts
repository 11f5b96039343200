import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export type RunningServer = {
  readonly url: string;
  readonly child: ChildProcess;
  /** What it said on standard error so far. */
  said(): string;
  /** The exit code, once it ends. */
  readonly ended: Promise<number | null>;
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === "object" && address ? address.port : 0;
}

/** Runs the real server, and ends it with the test. Resolves when it listens or has ended. With pages it may build them first. */
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
