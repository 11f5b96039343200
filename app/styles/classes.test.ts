import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { compile } from "tailwindcss";
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

/** Loads a style sheet that another one imports: a file of this project, or the one of Tailwind. */
async function loadStylesheet(id: string, base: string) {
  const path = id.startsWith(".") ? resolve(base, id) : createRequire(import.meta.url).resolve(`${id}/index.css`);
  return { path, base: dirname(path), content: readFileSync(path, "utf8") };
}

/** Tailwind writes no rule for these classes: other classes, such as group-hover:underline, refer to them. */
const markers = new Set(["group", "peer"]);

test("each class of a component is a class of the style sheets or of Tailwind", async () => {
  const plain = textsOf("{app,components}/**/*.tsx").flatMap((text) =>
    [...text.matchAll(/className="([^"]*)"/g)].flatMap(([, names = ""]) => names.split(/\s+/)),
  );
  const classes = [...new Set(plain)].filter((name) => name !== "" && !markers.has(name));
  const sheet = join(root, "app/global.css");
  const css = (await compile(readFileSync(sheet, "utf8"), { base: dirname(sheet), loadStylesheet })).build(classes);
  const selectors = new Set(
    [...css.matchAll(/\.((?:\\.|[\w-]|[^\0-\x7f])+)/g)].map(([, name = ""]) => name.replaceAll("\\", "")),
  );
  expect(selectors.size).toBeGreaterThan(500);
  expect(classes.filter((name) => !selectors.has(name))).toEqual([]);
});
