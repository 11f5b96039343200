import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { whenEnded } from "#test/when-ended.ts";

export type RunningServer = {
  readonly url: string;
  readonly child: ChildProcess;
  /** Kills the process without warning, as a power cut would. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

const READY = /on (http:\/\/localhost:[0-9]+)/;

/** Starts the real server in its own process, with the database and the chain of this process. */
export async function startServer(variables: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
  const DATA_DIR = mkdtempSync(join(tmpdir(), "countersign-server-"));
  const child = spawn(process.execPath, ["server.ts", "--api"], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, NODE_OPTIONS: "", DATA_DIR, PORT: "0", ...variables },
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.once("exit", whenEnded("kill", "-KILL", String(child.pid)));
  let said = "";
  let asked = false;
  const ended = new Promise<void>((resolve) =>
    child.once("exit", (code) => {
      resolve();
      // Nothing catches this error, so it makes the whole run fail: a server must not exit by itself.
      if (code !== null && code !== 0 && !asked) throw new Error(`The server ended by itself with ${code}:\n${said}`);
    }),
  );
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-10_000);
      const ready = READY.exec(said)?.[1];
      if (ready) resolve(ready);
    });
    child.once("exit", () => reject(new Error(`The server did not start:\n${said}`)));
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    asked = true;
    child.kill(signal);
    await ended;
  };
  return { url, child, kill: () => end("SIGKILL"), stop: () => end("SIGTERM") };
}

/** Returns a function that returns the running server, or starts a new one if there is none or a test has ended it. */
export function useServer(): () => Promise<RunningServer> {
  let last: RunningServer | undefined;
  afterAll(() => last?.kill());
  const runs = ({ child }: RunningServer): boolean => child.exitCode === null && child.signalCode === null;
  return async () => {
    if (last === undefined || !runs(last)) last = await startServer();
    return last;
  };
}
