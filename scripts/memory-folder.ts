import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const MEMORY = "/dev/shm";
/** The minimum of free bytes in the folder. */
const ROOM_MIN = 1024 ** 3;
/** The minimum of available memory of the machine, in bytes, because the processes of the run need memory too. */
const AVAILABLE_MIN = 4 * 1024 ** 3;
const ABANDONED_MS = 60 * 60_000;
const RUN_LIMIT_MS = 5_000;

const run = promisify(execFile);

async function hasRoom(place: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(place);
  return bavail * bsize >= ROOM_MIN && process.availableMemory() >= AVAILABLE_MIN;
}

/** False if no process has this id. It is true for processes of other accounts too, to which signals cannot be sent. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/**
 * Removes the folders of killed runs. A folder's name contains the id of its process. A folder must also be an hour old, because
 * the process of a container that shares this place cannot be seen from here.
 */
async function removeAbandoned(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const pid = /^countersign-test-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const found = await stat(join(place, name)).catch(() => null);
    // Another run may remove the folder at the same time, and folders of other accounts cannot be removed, so ignore the error.
    if (found && Date.now() - found.mtimeMs > ABANDONED_MS)
      await rm(join(place, name), { recursive: true, force: true }).catch(() => {});
  }
}

async function newFolder(place: string): Promise<string> {
  const folder = await mkdtemp(join(place, `countersign-test-${process.pid}-`));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  // If this runs as root, PostgreSQL runs under another account, which must be able to enter the folder, where it keeps its
  // data.
  await chmod(folder, 0o755);
  const program = join(folder, "program");
  await writeFile(program, "#!/bin/sh\n", { mode: 0o755 });
  await run(program, { timeout: RUN_LIMIT_MS });
  return folder;
}

/**
 * A folder in memory for the databases and data folders of a run, which creates and deletes hundreds of databases. It is removed
 * when this process exits. Null if there is too little room or memory, if the folder cannot be created, or if programs cannot be
 * executed in it.
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
