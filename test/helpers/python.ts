import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs the example in Python and returns its output. Null if the machine has no Python. */
export async function runPython(line: readonly string[], settings: Readonly<Record<string, string>>): Promise<string | null> {
  const hasPython = await run("python3", ["--version"]).then(
    () => true,
    () => false,
  );
  if (!hasPython) return null;
  const example = join(import.meta.dirname, "../../examples/agent.py");
  return (await run("python3", [example, ...line], { env: { ...process.env, ...settings } })).stdout;
}
