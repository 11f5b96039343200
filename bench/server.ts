import { spawn, type ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "#test/free-port.ts";
import { whenEnded } from "#test/when-ended.ts";

const root = join(import.meta.dirname, "..");

export type BenchServer = {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  /** Resident memory of the process, in MiB. */
  residentMiB(): Promise<number>;
  /** The end of what the process has written. */
  said(): string;
  stop(): Promise<void>;
};

async function answers(url: string): Promise<boolean> {
  try {
    await fetch(url, { method: "POST" });
    return true;
  } catch {
    return false;
  }
}

async function untilAnswers(child: ChildProcess, url: string, output: () => string): Promise<void> {
  for (const limit = Date.now() + 180_000; Date.now() < limit;) {
    if (child.exitCode !== null) throw new Error(`The server ended:\n${output()}`);
    if (await answers(url)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`The server did not answer:\n${output()}`);
}

/** Starts a Node program that will listen on PORT. */
export async function launch(
  program: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd = root,
): Promise<BenchServer & { readonly child: ChildProcess }> {
  const port = await freePort();
  const child = spawn(process.execPath, program, {
    cwd,
    env: { ...process.env, NODE_ENV: "production", LOG_LEVEL: "warn", PORT: String(port), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.once("exit", whenEnded("kill", "-KILL", String(child.pid)));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4_000)));
  return {
    child,
    port,
    url: `http://localhost:${port}`,
    pid: child.pid ?? 0,
    residentMiB: async () => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0) / 1024,
    said: () => output,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Starts a Node program that listens on PORT, and waits until it answers a request for `path`. */
export async function start(
  program: readonly string[],
  environment: Readonly<Record<string, string>>,
  path: string,
  cwd = root,
): Promise<BenchServer> {
  const { child, ...server } = await launch(program, environment, cwd);
  await untilAnswers(child, server.url + path, server.said);
  return server;
}
