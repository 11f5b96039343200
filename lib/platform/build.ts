import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

const sources = ["app", "components", "lib", "public", "instrumentation.ts", "next.config.ts", "package-lock.json", "proxy.ts"];

async function newest(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  if (!found) return 0;
  if (!found.isDirectory()) return /\.test\.tsx?$/.test(path) ? 0 : found.mtimeMs;
  const times = await Promise.all((await readdir(path)).map((name) => newest(join(path, name))));
  return Math.max(0, ...times);
}

/** Builds the pages where there is no build, or one that is older than what it was made from. */
export async function buildPages(say: (line: string) => void): Promise<void> {
  const built = (await stat(".next/BUILD_ID").catch(() => null))?.mtimeMs ?? 0;
  if (built > Math.max(...(await Promise.all(sources.map(newest))))) return;
  say("building the pages; this happens once and takes about a minute.");
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  const timer = setInterval(() => say(`still building, ${seconds()} s.`), 10_000);
  let output = "";
  const child = spawn(process.execPath, ["node_modules/next/dist/bin/next", "build"], {
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const orphaned = () => child.kill();
  process.once("exit", orphaned);
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((done, fail) => child.once("error", fail).once("exit", done));
  clearInterval(timer);
  process.removeListener("exit", orphaned);
  if (code !== 0) throw new Error(`The pages could not be built:\n${output.trim()}`);
  say(`built in ${seconds()} s.`);
}
