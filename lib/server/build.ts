import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const shared = ["lib", "sdk/src/purchase", "package-lock.json"];
const ofPages = [...shared, "app", "components", "docs/start", "public", "instrumentation.tsx", "next.config.ts", "proxy.tsx"];
const ofServer = [
  ...shared,
  "app/api",
  "app/mcp",
  "app/metrics",
  "app/.well-known",
  "app/routes.ts",
  "contracts/artifacts",
  "drizzle/meta",
];

/** Reads synchronously: of a thousand files, asynchronous calls would take several times the processor time. */
function newest(path: string): number {
  if (/\.test\.tsx?$/.test(path)) return 0;
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0;
  return readdirSync(path).reduce((time, name) => Math.max(time, newest(join(path, name))), 0);
}

function isCurrent(built: string, sources: readonly string[]): boolean {
  const at = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return at > Math.max(...sources.map(newest));
}

/** "missing" keeps an old build: a build first removes the pages, which another process may serve. */
export type BuildIf = "missing" | "outdated";

type Say = (line: string) => void;

function isWanted(built: string, sources: readonly string[], say: Say, when: BuildIf): boolean {
  if (isCurrent(built, sources)) return false;
  if (when === "outdated" || !existsSync(built)) return true;
  say(`${built} is older than its sources and is used as it is; npm run build builds it again.`);
  return false;
}

export async function buildPages(say: Say, when: BuildIf = "outdated"): Promise<void> {
  if (!isWanted(".next/BUILD_ID", ofPages, say, when)) return;
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

async function bundleServer(file: string): Promise<void> {
  const { rolldown } = await import("rolldown");
  // Write a file with a random name and rename it: processes may bundle at once, and process ids repeat across containers.
  const mine = file.replace(/mjs$/, `${randomBytes(6).toString("hex")}.mjs`);
  await mkdir(dirname(file), { recursive: true });
  const bundle = await rolldown({ input: "lib/server/entry.ts", platform: "node", logLevel: "silent" });
  try {
    await bundle.write({ file: mine, format: "esm", codeSplitting: false });
    await rename(mine, file);
  } finally {
    await bundle.close();
    await rm(mine, { force: true });
  }
}

/** Bundles the server into one file. Returns the file's URL. */
export async function buildServer(say: Say, when: BuildIf = "outdated"): Promise<string> {
  const bundled = ".server/serve.mjs";
  const file = resolve(bundled);
  if (isWanted(bundled, ofServer, say, when)) {
    await bundleServer(file).catch((error: Error) => {
      const next = "Where this folder cannot be written, run npm run build before.";
      throw new Error(`${file} could not be built: ${error.message}\n${next}`, { cause: error });
    });
  }
  return pathToFileURL(file).href;
}
