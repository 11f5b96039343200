import { existsSync, globSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { CONFIGURATION_FILE, withSettings } from "./configuration.ts";
import { floors } from "./floors.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string): Promise<string> => readFile(resolve(root, path), "utf8");

const documents = globSync("**/*.md", { cwd: root, exclude: (path) => /(?:^|\/)(?:node_modules|\.\w+|dist)$/.test(path) }).filter(
  (path) => statSync(join(root, path)).isFile(),
);

const fences = /^```[\s\S]*?^```$/gm;

/** The anchor that GitHub makes of a heading. Links and marks in the heading leave their text. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");

const anchorsIn = (text: string): string[] =>
  [...text.replaceAll(fences, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));

/** The targets of all links and pictures outside of code, except addresses of the web. */
const targetsIn = (text: string): string[] =>
  [
    ...text
      .replaceAll(fences, "")
      .replaceAll(/`[^`\n]*`/g, "code")
      .matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g),
  ]
    .map(([, link, attribute]) => link ?? attribute ?? "")
    .filter((target) => !/^[a-z]+:/.test(target));

test.each(documents)("every relative link and anchor of %s leads somewhere", async (document) => {
  const text = await read(document);
  for (const target of targetsIn(text)) {
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? document : join(dirname(document), path);
    expect(existsSync(resolve(root, file)), target).toBe(true);
    if (anchor !== undefined) expect(anchorsIn(await read(file)), target).toContain(anchor);
  }
});

test("links are found in text, in pictures and around code, and not in code", () => {
  const text = '[a](b.md#c) [`d`](e.ts) `[f](g)` <img src="h.png"> [i](https://j.example)\n```md\n[k](l)\n```\n';
  expect(targetsIn(text)).toEqual(["b.md#c", "e.ts", "h.png"]);
  expect(anchorsIn("# A page: `code`, and [a link](b.md)\n```sh\n# no heading\n```\n")).toEqual(["a-page-code-and-a-link"]);
});

test.each([
  ["docs/start/first-agent.md", "examples/agent.ts"],
  ["docs/start/without-the-package.md", "examples/buy.mjs"],
])("%s shows %s as it is", async (document, example) => {
  expect(await read(document)).toContain(`\`\`\`js\n${await read(example)}\`\`\``);
});

test("the index of decisions has every decision, with its title", async () => {
  const files = globSync("docs/decisions/0*.md", { cwd: root }).toSorted();
  const titles = await Promise.all(files.map(async (file) => /^# \d{4}: (.*)$/m.exec(await read(file))?.[1]));
  const index = await read("docs/decisions/README.md");
  const rows = index.matchAll(/^\| \[(\d{4})\]\((.*?)\) \| (.*?) \| (?:in force|replaced by)/gm);
  const listed = [...rows].map((row) => row.slice(1));
  expect(listed).toEqual(files.map((file, at) => [basename(file).slice(0, 4), basename(file), titles[at]]));
});

/** The picture leaves out a module that stands beside its parent. */
function isDrawn(name: string): boolean {
  const [parent = ""] = name.split("/");
  const [from, to] = [name, parent].map((one) => (floors as readonly string[]).indexOf(one)).toSorted((a, b) => a - b);
  return name === parent || !floors.slice(from, (to ?? 0) + 1).every((one) => one.split("/")[0] === parent);
}

test("the picture of the floors has every module, in their order", async () => {
  const [, picture = ""] = /```mermaid\nflowchart TB\n([\s\S]*?)```/.exec(await read("docs/architecture/README.md")) ?? [];
  const lists = [...new Map([...picture.matchAll(/(\w+)\["(.*?)"\]/g)].map(([, id, list = ""]) => [id, list])).values()];
  const named = lists.flatMap((list) => list.replace(/:.*$/, "").split(", "));
  expect(named.toReversed()).toEqual(floors.filter(isDrawn));
});

test("README.md has at most 7000 bytes, and what CHANGELOG.md says about a release at most 3000", async () => {
  expect(Buffer.byteLength(await read("README.md"))).toBeLessThanOrEqual(7_000);
  const releases = (await read("CHANGELOG.md")).split(/^(?=## )/m);
  expect(releases.length).toBeGreaterThan(1);
  expect(releases.filter((release) => Buffer.byteLength(release) > 3_000)).toEqual([]);
});

test("the table of settings is the one that lib/env.ts and lib/env-settings.ts make", async () => {
  const document = await read(CONFIGURATION_FILE);
  expect(document).toBe(withSettings(document));
  expect(document).toContain("| `PORT` | `3000` | where to listen |");
});
