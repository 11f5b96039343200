import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

const INSTALL_LIMIT_MS = 180_000;
const root = join(import.meta.dirname, "..");
/** chromium-headless-shell comes first: it is a Chromium without windows, and needs less CPU time. */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const inCache = ["chrome-linux/chrome", "chrome-linux64/chrome", "chrome-mac/Chromium.app/Contents/MacOS/Chromium"];

const runnable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function first(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) if (await runnable(path)) return path;
  return null;
}

const installed = (): Promise<string | null> =>
  first((process.env["PATH"] ?? "").split(delimiter).flatMap((folder) => names.map((name) => join(folder, name))));

/** The path of a Chromium that Playwright has downloaded earlier, in any version; null if there is none. */
async function cached(): Promise<string | null> {
  const folder = process.env["PLAYWRIGHT_BROWSERS_PATH"] ?? join(homedir(), ".cache/ms-playwright");
  const versions = (await readdir(folder).catch((): string[] => [])).filter((name) => /^chromium-\d+$/.test(name)).toSorted();
  return first(versions.toReversed().flatMap((version) => inCache.map((path) => join(folder, version, path))));
}

async function run(program: string, ...options: string[]): Promise<boolean> {
  const child = spawn(program, options, { cwd: root, stdio: ["ignore", "ignore", "pipe"], timeout: INSTALL_LIMIT_MS });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((done) => child.once("error", () => done(null)).once("close", done));
  if (code !== 0) console.log(`    ${program} ${options.join(" ")}: ${said.trim().split("\n").at(-1) ?? "failed"}`);
  return code === 0;
}

async function download(): Promise<string | null> {
  return (await run(join(root, "node_modules/.bin/playwright"), "install", "chromium")) ? cached() : null;
}

async function fromSystem(): Promise<string | null> {
  if (process.getuid?.() !== 0) return null;
  await run("apt-get", "update");
  for (const name of ["chromium-headless-shell", "chromium"])
    if (await run("apt-get", "install", "-y", "--no-install-recommends", name)) return installed();
  return null;
}

/**
 * The path of the Chromium that CHROMIUM_PATH names, or else of one on this machine. Null if the file in CHROMIUM_PATH cannot
 * be executed, or if CHROMIUM_PATH is not set and no Chromium is installed. Downloads nothing.
 */
export async function chromiumAtHand(): Promise<string | null> {
  const named = process.env["CHROMIUM_PATH"];
  if (named !== undefined && named !== "") return (await runnable(named)) ? named : null;
  return (await installed()) ?? (await cached());
}

/**
 * The path of a Chromium for the browser tests: an installed one, or else one that Playwright downloads now, or else (as root)
 * the system's package. If CHROMIUM_PATH is set, only that one is used. Null if none is available.
 */
export async function findChromium(): Promise<string | null> {
  const atHand = await chromiumAtHand();
  if (atHand !== null || process.env["CHROMIUM_PATH"]) return atHand;
  return (await download()) ?? (await fromSystem());
}
