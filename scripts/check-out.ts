import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");

/**
 * Copies the source of a commit to an empty folder. It gets the packages of this tree, as links to the same files, or its own if its
 * lockfile names others or the folder is on another disk.
 */
export async function checkOut(commit: string, folder: string): Promise<string> {
  await run("sh", ["-c", `git archive "$1" | tar -x -C "$2"`, "sh", commit, folder], { cwd: root });
  await run("cp", ["-al", join(root, "node_modules"), folder]).catch(() => {});
  await run(process.execPath, ["scripts/ensure.mjs"], { cwd: folder, maxBuffer: 1 << 26 });
  return folder;
}
