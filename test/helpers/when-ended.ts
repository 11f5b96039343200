import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { testDataDir } from "#test/data-dir.ts";

const root = join(import.meta.dirname, "../..");

/**
 * Runs a command when this process has ended, however it ended: a shell waits for the end of a pipe that only this process can
 * write. Returns a function that calls it off.
 */
export function whenEnded(...command: readonly string[]): () => void {
  const shell = spawn("sh", ["-c", 'read -r _; exec "$@"', "sh", ...command], {
    cwd: root,
    // In its own group, so that Ctrl-C does not end it.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  shell.once("error", () => {});
  shell.stdin.on("error", () => {});
  shell.unref();
  (shell.stdin as unknown as NodeJS.Timeout).unref();
  return () => void shell.kill("SIGKILL");
}

/** The PostgreSQL of the tests has a session of its own, so nothing else would stop it after the run was killed. */
export async function endPostgresWithThis(directory: string): Promise<() => void> {
  const [pid = ""] = (await readFile(join(directory, "data/postmaster.pid"), "utf8")).split("\n");
  return whenEnded(process.execPath, "test/helpers/end-cluster.ts", testDataDir(), pid);
}
