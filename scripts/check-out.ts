import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");

/** Copies the source of a commit to an empty folder. It gets the packages of this tree, or its own if its lockfile names others. */
export async function checkOut(commit: string, folder: string): Promise<string> {
  await run("sh", ["-c", `git archive "$1" | tar -x -C "$2"`, "sh", commit, folder], { cwd: root });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await run(process.execPath, ["scripts/ensure.mjs"], { cwd: folder, maxBuffer: 1 << 26 });
  return folder;
}
