import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const textsOf = (pattern: string): string[] =>
  globSync(pattern, { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"));

/**
 * In these style sheets, rows and cells of tables become separate entries on small screens. Their selectors depend on the
 * position of a cell in its table, so a class may be used on a single element.
 */
const tables = ["basket.css", "ledger.css"];

/** Whether the class is of buttons. `buttonClass` composes these names, so a search for uses does not find them. */
const isButton = (name: string): boolean => /^btn(-|$)/.test(name);

/** Counts the elements that have each class. Every word of an expression in braces counts as a class. */
function countUses(): Map<string, number> {
  const uses = new Map<string, number>();
  for (const text of textsOf("{app,components}/**/*.tsx")) {
    for (const [, plain, computed] of text.matchAll(/className=(?:"([^"]*)"|\{((?:[^{}]|\$?\{[^{}]*\})*)\})/g)) {
      const names = plain?.split(/\s+/) ?? (computed ?? "").match(/[\w-]+/g) ?? [];
      for (const name of new Set(names)) uses.set(name, (uses.get(name) ?? 0) + 1);
    }
  }
  return uses;
}

test("a class of the style sheets is used on more than one element, except in tables and buttons", () => {
  const uses = countUses();
  const sheets = globSync("app/styles/*.css", { cwd: root }).filter(
    (file) => !tables.some((table) => file.endsWith(`/${table}`)),
  );
  const names = sheets.flatMap((sheet) =>
    textsOf(sheet).flatMap((text) => [...text.matchAll(/\.([a-z][\w-]*)(?=[^{};]*\{)/g)].map(([, name = ""]) => name)),
  );
  expect(names.length).toBeGreaterThan(40);
  expect(new Set(names.filter((name) => !isButton(name) && (uses.get(name) ?? 0) < 2))).toEqual(new Set());
});
