import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The code blocks of this language below a heading of a page of docs/operate, one after the other. */
export async function codeOf(page: string, heading: string, language = "sh"): Promise<readonly [string, ...string[]]> {
  const text = await readFile(join(import.meta.dirname, "../../docs/operate", page), "utf8");
  const part = text.split(/^#+ /m).find((one) => one.startsWith(`${heading}\n`)) ?? "";
  const [first, ...more] = [...part.matchAll(new RegExp(`^ *\`\`\`${language}\n([\\s\\S]*?)^ *\`\`\`$`, "gm"))].map(
    ([, code = ""]) => code,
  );
  if (first === undefined) throw new Error(`${page} has no ${language} below "${heading}".`);
  return [first, ...more];
}

/** Runs commands of a page with the variables that it names. `as` is the account that runs them. */
export async function runCode(code: string, variables: Readonly<Record<string, string>>, as = "root"): Promise<string> {
  const PATH = `/usr/lib/postgresql/15/bin:${process.env["PATH"]}`;
  const shell = ["-u", as, "--", "bash", "-euo", "pipefail", "-c", code];
  const { stdout } = await run("runuser", shell, { cwd: "/", env: { ...process.env, PATH, ...variables } });
  return stdout;
}
