import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const MEMORY = "/dev/shm";
const PREFIX = "countersign-test-";
/** Four times what a run has had in it at once. */
const ROOM_MIN = 1024 ** 3;
/** The run itself needs most of this. */
const AVAILABLE_MIN = 4 * 1024 ** 3;
const ABANDONED_MS = 60 * 60_000;
const RUN_LIMIT_MS = 5_000;

const run = promisify(execFile);

async function hasRoom(place: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(place);
  return bavail * bsize >= ROOM_MIN && process.availableMemory() >= AVAILABLE_MIN;
}

/** Of runs that were killed. */
async function removeAbandoned(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    if (!name.startsWith(PREFIX)) continue;
    const found = await stat(join(place, name)).catch(() => null);
    // Another run may remove it at this moment, and another account's is not ours to remove.
    if (found && Date.now() - found.mtimeMs > ABANDONED_MS)
      await rm(join(place, name), { recursive: true, force: true }).catch(() => {});
  }
}

async function newFolder(place: string): Promise<string> {
  const folder = await mkdtemp(join(place, PREFIX));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  // The account that PostgreSQL runs as has its data in it.
  await chmod(folder, 0o755);
  const program = join(folder, "program");
  await writeFile(program, "#!/bin/sh\n", { mode: 0o755 });
  await run(program, { timeout: RUN_LIMIT_MS });
  return folder;
}

/**
 * A folder in memory that ends with this process, for the databases and data folders of a run. They come and go by the hundred, and a
 * disk's file system looks for a place for each new file among all that went a moment ago. Null where there is no such folder with room,
 * or where no program may run from it.
 */
export async function memoryFolder(place = MEMORY): Promise<string | null> {
  try {
    if (!(await hasRoom(place))) return null;
    await removeAbandoned(place);
    return await newFolder(place);
  } catch {
    return null;
  }
}
