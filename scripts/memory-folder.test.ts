import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { memoryFolder } from "./memory-folder.ts";

/** Folders of a process that does not exist: its id is above the largest one of Linux and macOS. */
const DEAD_OLD = "countersign-test-4194305-old";
const DEAD_YOUNG = "countersign-test-4194305-young";

async function newPlace(): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), "countersign-memory-"));
  onTestFinished(() => rm(place, { recursive: true, force: true }));
  return place;
}

const asking = (ending: string) => `
  import { stat, readdir } from "node:fs/promises";
  import { memoryFolder } from "./scripts/memory-folder.ts";
  const place = process.argv[1];
  const folder = await memoryFolder(place);
  console.log(JSON.stringify({ folder, mode: (await stat(folder)).mode & 0o777, beside: await readdir(place) }));
  ${ending}`;

type Said = { readonly folder: string; readonly mode: number; readonly beside: readonly string[] };

/**
 * Runs a process that asks for a folder. Returns its output, and which folders are left after the process ended, by a signal or
 * by itself.
 */
async function runIn(place: string, signal?: NodeJS.Signals): Promise<Said & { readonly left: readonly string[] }> {
  const code = asking(signal ? "setInterval(() => {}, 1_000);" : "");
  const child = spawn(process.execPath, ["--input-type=module", "-e", code, place], {
    cwd: join(import.meta.dirname, ".."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    if (signal) child.kill(signal);
  });
  await new Promise((done) => child.once("close", done));
  return { ...(JSON.parse(said) as Said), left: await readdir(place) };
}

test.each([
  ["itself", undefined],
  ["SIGTERM", "SIGTERM"],
  ["SIGINT", "SIGINT"],
] as const)("a folder is removed when its process ends by %s", async (_name, signal) => {
  const place = await newPlace();
  const { folder, left } = await runIn(place, signal);
  expect(folder.startsWith(join(place, "countersign-test-"))).toBe(true);
  expect(left).toEqual([]);
});

test("PostgreSQL's account can enter the folder, and folders of killed runs are removed after an hour", async () => {
  const place = await newPlace();
  const live = `countersign-test-${process.pid}-old`;
  const ages = { [DEAD_OLD]: 61, [DEAD_YOUNG]: 59, [live]: 61, "somebody-else": 61 };
  for (const [name, minutes] of Object.entries(ages)) {
    await mkdir(join(place, name));
    const then = new Date(Date.now() - minutes * 60_000);
    await utimes(join(place, name), then, then);
  }
  const { mode, beside, left } = await runIn(place);
  expect(mode).toBe(0o755);
  expect(beside).toHaveLength(4);
  expect(left.toSorted()).toEqual([DEAD_YOUNG, live, "somebody-else"].toSorted());
});

test("there is no folder if the system has no file system in memory", async () => {
  expect(await memoryFolder(join(await newPlace(), "nowhere"))).toBeNull();
});
