import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, onTestFinished } from "vitest";
import { freePort } from "#test/free-port.ts";
import { whenEnded } from "#test/when-ended.ts";

export type RunningServer = {
  readonly url: string;
  readonly child: ChildProcess;
  /** What the process has written to standard error so far. */
  said(): string;
  /** Resolves when the process ends, with its exit code, or null if a signal ended it. */
  readonly ended: Promise<number | null>;
};

/** One server with pages for all tests of a describe block. */
export function sharedServer(variables: () => Record<string, string>): () => RunningServer {
  let server: RunningServer | undefined;
  beforeAll(async () => {
    const ends: (() => Promise<void>)[] = [];
    server = await runServer(variables(), { pages: true, atEnd: (end) => ends.push(end) });
    return async () => {
      for (const end of ends) await end();
    };
  });
  return () => server!;
}

type RunOptions = { readonly pages?: boolean; readonly atEnd?: (end: () => Promise<void>) => void };

/**
 * Runs the real server until the test ends. Resolves when the server listens or has exited. With `pages` it also serves the
 * pages, may build them first, and resolves when their process listens.
 */
export async function runServer(
  variables: Record<string, string>,
  { pages = false, atEnd = onTestFinished }: RunOptions = {},
): Promise<RunningServer> {
  const dataDir = variables["DATA_DIR"] ?? (await mkdtemp(join(tmpdir(), "countersign-test-")));
  const port = await freePort();
  const child = spawn(process.execPath, ["server.ts", ...(pages ? [] : ["--api"])], {
    env: { ...process.env, BASE_URL: `http://localhost:${port}`, DATA_DIR: dataDir, PORT: String(port), ...variables },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const keep = whenEnded("kill", "-TERM", String(child.pid));
  child.once("close", keep);
  let said = "";
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const listening = new Promise<void>((done) => {
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("(ready in")) done();
    });
  });
  atEnd(async () => {
    child.kill("SIGTERM");
    await ended;
    if (!variables["DATA_DIR"]) await rm(dataDir, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([pages ? listening.then(() => pagesReady(url)) : listening, ended]);
  return { url, child, said: () => said, ended };
}

async function pagesReady(url: string): Promise<void> {
  while ((await checkOf(url, "pages")) !== "ready") await pause(100);
}

/** The status of a check of the server's readiness. */
export async function checkOf(url: string, wanted: string): Promise<string | undefined> {
  const reply = await fetch(`${url}/api/v1/health/ready`).catch(() => null);
  const body = (await reply?.json()) as
    | { readonly checks?: readonly { readonly name: string; readonly status: string }[] }
    | undefined;
  return body?.checks?.find(({ name }) => name === wanted)?.status;
}

/** The reply of a page. While the pages process is slow, as it is on a busy machine, the answer is 503, and it is asked again. */
export async function pageOf(url: string, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    const reply = await fetch(url, init);
    if (reply.status !== 503) return reply;
    await reply.body?.cancel();
    await pause(500);
  }
}
