import { glob, readFile } from "node:fs/promises";
import { join, matchesGlob } from "node:path";
import { expect, test } from "vitest";
import drizzle from "../drizzle.config.ts";
import knip from "../knip.json" with { type: "json" };
import oxlint from "../oxlint.config.ts";

// A rule, a table or a sentence that names a file says nothing once the file has moved. No tool reports that.

const root = join(import.meta.dirname, "..");

/** Folders that a fresh clone does not have. */
const made = new Set(["node_modules", ".next", ".data", ".test", "dist", ".git"]);

async function allFiles(): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of glob(["**/*.*", ".github/**/*.*"], {
    cwd: root,
    withFileTypes: true,
    exclude: ({ name }) => made.has(name),
  }))
    if (entry.isFile())
      found.push(
        join(entry.parentPath, entry.name)
          .slice(root.length + 1)
          .replaceAll("\\", "/"),
      );
  return found;
}

const files = await allFiles();

/** The patterns without alternatives that a pattern stands for: one for each text in its braces. */
function alternatives(pattern: string): string[] {
  const [, before = "", inside, after = ""] = /^(.*?)\{([^{}]*)\}(.*)$/.exec(pattern) ?? [];
  if (inside === undefined) return [pattern];
  return inside.split(",").flatMap((one) => alternatives(`${before}${one}${after}`));
}

const matchesNothing = (pattern: string): boolean => !files.some((file) => matchesGlob(file, pattern));

/** Those of the patterns, one for each alternative except endings such as `.{ts,tsx}`, to which no file belongs. */
const idle = (patterns: readonly string[]): string[] =>
  patterns
    .map((pattern) => pattern.replace(/^\.\//, "").replace(/\.\{[^{}]*\}$/, ".*"))
    .flatMap(alternatives)
    .filter(matchesNothing);

/** The expressions that a regular expression with `(a|b)` stands for. A group that may be absent stays as it is. */
function expressions(regex: string): string[] {
  const [, before = "", inside, after = ""] = /^(.*?)\(([^()?*]*\|[^()]*)\)(.*)$/.exec(regex) ?? [];
  if (inside === undefined || !inside.includes("|")) return [regex];
  return inside.split("|").flatMap((one) => expressions(`${before}${one}${after}`));
}

test("every pattern of the linter's configuration matches a file", () => {
  expect(idle((oxlint.overrides ?? []).flatMap((override) => override.files))).toEqual([]);
});

test("every import that the linter's configuration bans from lib names a file that exists", () => {
  const regexes = JSON.stringify(oxlint).matchAll(/"regex":("\^#lib\/(?:[^"\\]|\\.)*")/g);
  const banned = new Set([...regexes].flatMap(([, text = ""]) => expressions(JSON.parse(text) as string)));
  expect(banned.size).toBeGreaterThan(5);
  expect([...banned].filter((regex) => !files.some((file) => new RegExp(regex).test(`#${file}`)))).toEqual([]);
});

test("every pattern in knip.json matches a file", () => {
  expect(idle([...knip.entry, ...knip.project.filter((pattern) => !pattern.startsWith("!"))])).toEqual([]);
});

test("migrations are generated from every file with tables", () => {
  const schema = [drizzle.schema ?? []].flat();
  expect(idle(schema)).toEqual([]);
  const tables = files.filter((file) => /^lib\/(?:.*[/-])?tables\.ts$/.test(file));
  const read = schema.map((pattern) => pattern.replace(/^\.\//, ""));
  expect(tables.length).toBeGreaterThan(10);
  expect(tables.filter((file) => !read.some((pattern) => matchesGlob(file, pattern)))).toEqual([]);
});

test("every file that CONTRIBUTING.md names exists", async () => {
  const text = await readFile(join(root, "CONTRIBUTING.md"), "utf8");
  const spans = [...text.matchAll(/`([^`\s]+\.(?:ts|md|json))`|\]\(([^)#]+)[^)]*\)/g)].map(
    ([, code, link]) => code ?? link ?? "",
  );
  const named = spans.filter((name) => !name.includes("<") && !name.startsWith("http"));
  expect(named.length).toBeGreaterThan(20);
  // Names within lib may be written without it, and the name of a file alone stands for one in any module.
  const places = (name: string): string[] => [name, `lib/${name}`, ...(name.includes("/") ? [] : [`lib/**/${name}`])];
  expect(
    named.filter((name) => places(name).every(matchesNothing) && !files.some((file) => file.startsWith(`${name}/`))),
  ).toEqual([]);
});
