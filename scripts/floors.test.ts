import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { operations } from "#lib/operations/operations.ts";
import { floors, placeOf } from "./floors.ts";

const root = join(import.meta.dirname, "..");

type Files = Readonly<Record<string, string>>;
type Finding = { readonly filename: string; readonly code: string; readonly message: string };

/**
 * Adds the number of the case to each file and to each import of it, so that the files of all cases can lie in one folder. Other
 * texts have @ where the number belongs.
 */
const numbered = (text: string, at: number): string =>
  text.replaceAll(/(?<=\/)[\w-]+(?=(?:\.test)?\.tsx?\b)/g, `$&${at}`).replaceAll("@", String(at));

/** Runs the linter of this repository once on the files of all cases, and returns what it finds in each case. */
async function lint(cases: readonly Files[]): Promise<Finding[][]> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-floors-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const planted = cases.map((files, at): Files =>
    Object.fromEntries(Object.entries(files).map((entry) => entry.map((text) => numbered(text, at)))),
  );
  for (const [name, text] of planted.flatMap((files) => Object.entries(files))) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  // oxlint looks for `scripts/floors.ts` in the folder of its configuration, so this folder gets a configuration and a link to
  // `scripts`.
  await writeFile(join(folder, "oxlint.config.ts"), `export { default } from "${join(root, "oxlint.config.ts")}";\n`);
  await symlink(join(root, "scripts"), join(folder, "scripts"));
  const names = planted.flatMap((files) => Object.keys(files));
  const program = join(root, "node_modules/.bin/oxlint");
  const { stdout } = spawnSync(program, ["--format", "json", ...names], { cwd: folder, encoding: "utf8" });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly Finding[] };
  return planted.map((files) => diagnostics.filter(({ filename }) => filename in files));
}

const value = "export const value = 1;\n";
const user = (path: string) => `import { value } from "#lib/${path}";\n\nexport const twice = value * 2;\n`;
const typeUser = (path: string) => `import type { Twice } from "#lib/${path}";\n\nexport type Twice = Twice[];\n`;

const refused: readonly (readonly [what: string, files: Files, words: string])[] = [
  [
    "an import upward",
    { "lib/db/low.ts": user("payments/high.ts"), "lib/payments/high.ts": value },
    "db must not import from payments",
  ],
  [
    "two modules that import each other",
    { "lib/audit/one.ts": user("identity/two.ts"), "lib/identity/two.ts": user("audit/one.ts") },
    "audit must not import from identity",
  ],
  [
    "a cycle of types",
    { "lib/audit/one.ts": typeUser("holds/two.ts"), "lib/holds/two.ts": typeUser("audit/one.ts") },
    "audit must not import from holds",
  ],
  [
    "a type that is imported in place",
    { "lib/db/low.ts": 'export type High = import("#lib/pages/high.ts").High;\n' },
    "db must not",
  ],
  ["an import at run time", { "lib/db/low.ts": 'export const high = () => import("#lib/pages/high.ts");\n' }, "db must not"],
  ["a re-exported name", { "lib/db/low.ts": 'export { high } from "#lib/pages/high.ts";\n' }, "db must not"],
  [
    "a value of the process that another file may create too",
    { "lib/audit/one.ts": 'export const one = perProcess("audit/two", () => 1);\n' },
    'The name must be "audit/one@"',
  ],
  [
    "a value of the process whose name is not written where it is created",
    { "lib/audit/one.ts": "export const one = (name: string) => perProcess(name, () => 1);\n" },
    "Write the name of the value",
  ],
  [
    "a test that forgets a value that no file creates",
    { "lib/audit/one.test.ts": 'forget("audit/gone");\n' },
    "lib/audit/gone.ts does not exist",
  ],
  [
    "another module in a room",
    { "lib/payments/high.ts": user("holds/inner/low.ts"), "lib/holds/inner/low.ts": value },
    "lib/holds/inner is a room of lib/holds",
  ],
  [
    "a module in a room of the module around it",
    { "lib/mandates/lifecycle/high.ts": user("mandates/inner/low.ts"), "lib/mandates/inner/low.ts": value },
    "lib/mandates/inner is a room",
  ],
  [
    "a module in a room of a module inside it, however deep",
    { "lib/payments/high.ts": user("identity/keys/one/two/low.ts"), "lib/identity/keys/one/two/low.ts": value },
    "lib/identity/keys/one/two is a room of lib/identity/keys",
  ],
  ["a test of another module in a room", { "lib/audit/one.test.ts": user("holds/inner/low.ts") }, "lib/holds/inner is a room"],
  ["a type from a room", { "lib/payments/high.ts": typeUser("holds/inner/low.ts") }, "lib/holds/inner is a room"],
  ["an import upward from a room", { "lib/db/inner/low.ts": user("payments/high.ts") }, "db must not import from payments"],
  ["a page in a room", { "app/page.tsx": user("holds/inner/low.ts") }, "lib/holds/inner is a room"],
  ["a component in a room", { "components/one.tsx": user("holds/inner/low.ts") }, "lib/holds/inner is a room"],
  ["a benchmark in a room", { "bench/one.ts": user("holds/inner/low.ts") }, "lib/holds/inner is a room"],
  [
    "an example that enters a room by a relative path",
    { "examples/one.ts": 'export const low = () => import("../lib/holds/inner/low.ts");\n' },
    "lib/holds/inner is a room",
  ],
  ["a journey in a room", { "e2e/setup/one.ts": user("holds/inner/low.ts") }, "lib/holds/inner is a room"],
  ["a shared test in a room", { "test/one.test.ts": user("holds/inner/low.ts") }, "lib/holds/inner is a room"],
  ["a folder that is no module", { "lib/attic/old.ts": user("money.ts") }, "not in the list of modules"],
];

const accepted: readonly (readonly [what: string, files: Files])[] = [
  [
    "imports downward and within a module",
    {
      "lib/payments/high.ts": user("db/low.ts"),
      "lib/payments/other.ts": user("payments/high.ts"),
      "lib/db/low.ts": user("money.ts"),
    },
  ],
  [
    "imports of a module's own rooms, from its tests too",
    {
      "lib/holds/high.ts": user("holds/inner/low.ts"),
      "lib/holds/inner/low.ts": user("holds/inner/deep/lower.ts"),
      "lib/holds/inner/deep/lower.ts": user("holds/other/low.ts"),
      "lib/holds/other/low.test.ts": user("holds/inner/low.ts"),
      "lib/holds/other/low.ts": user("db/low.ts"),
      "lib/payments/low.ts": user("holds/high.ts"),
      "app/page.tsx": user("holds/high.ts"),
    },
  ],
  [
    "values of the process that begin with their file's path",
    {
      "lib/audit/one.ts":
        'export const one = (name: string) => [perProcess("audit/one@", () => 1), perProcess(`audit/one@ ${name}`, () => 1)];\n',
      "lib/audit/one.test.ts": 'forget("env", "process");\nforget(`db/client ${1}`);\n',
    },
  ],
];

test("the linter refuses and accepts what it should", async () => {
  const found = await lint([...refused, ...accepted].map(([, files]) => files));
  const said = found.map((findings) => findings.map(({ code, message }) => `${code} ${message}`).join("\n"));
  for (const [at, [what, , words]] of refused.entries()) expect.soft(said[at], what).toContain(words.replace("@", String(at)));
  for (const [at, [what]] of accepted.entries()) expect.soft(said[refused.length + at], what).not.toContain("floors(");
});

/** The handlers that the files of a folder export, each with its name and its file. */
async function handlersIn(folder: string): Promise<readonly (readonly [name: string, file: string])[]> {
  const files = (await readdir(folder)).filter((file) => /(?<!\.test)\.ts$/.test(file));
  const found = files.map(async (file) => {
    const text = await readFile(join(folder, file), "utf8");
    return [...text.matchAll(/^export const (\w+): Handler</gm)].map(([, name = ""]) => [name, file] as const);
  });
  return (await Promise.all(found)).flat();
}

const fileOf = (name: string): string => `${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;

/** The files of a module and of its rooms, as paths from its folder. */
async function filesOf(name: string): Promise<string[]> {
  const files = await readdir(join(root, "lib", name), { recursive: true });
  return files.map((file) => file.replaceAll("\\", "/")).filter((file) => placeOf(`${name}/${file}`).name === name);
}

/** The rooms of a module, as paths from its folder. */
const roomsOf = (name: string, files: readonly string[]): string[] =>
  [...new Set(files.map((file) => placeOf(`${name}/${file}`).room))].filter((room) => room !== "").toSorted();

test.each(floors)(
  "the README of lib/%s names existing files, all its stores and contracts, and exactly its rooms and operations",
  async (name) => {
    const folder = join(root, "lib", name);
    const text = await readFile(join(folder, "README.md"), "utf8");
    const files = (await filesOf(name)).filter((file) => /\.\w+$/.test(file));
    const named = [...text.matchAll(/`((?:[\w-]+\/)*[\w-]+\.ts)`/g)].map(([, file = ""]) => file);
    const isThere = (file: string): boolean => (file.startsWith("lib/") ? existsSync(join(root, file)) : files.includes(file));
    expect(named.filter((file) => !isThere(file))).toEqual([]);
    expect(files.filter((file) => /^(?:.*[/-])?(?:store|contract)\.ts$/.test(file) && !named.includes(file))).toEqual([]);
    const [, rooms = ""] = /\*\*Rooms:\*\*([^.]*)\./.exec(text) ?? [];
    expect([...rooms.matchAll(/`([\w/-]+)`/g)].map(([, room]) => room).toSorted()).toEqual(roomsOf(name, files));
    const [, listed = ""] = /\*\*Operations:\*\*([^.]*)\./.exec(text) ?? [];
    const handlers = (await handlersIn(folder)).map(([handler]) => handler);
    expect([...listed.matchAll(/`(\w+)`/g)].map(([, operation]) => operation)).toEqual(handlers.toSorted());
  },
);

test("every operation has one handler, in the file of its name, with a test file of the same name beside it", async () => {
  const files = await Promise.all(floors.map((name) => readdir(join(root, "lib", name))));
  const handlers = await Promise.all(floors.map((name) => handlersIn(join(root, "lib", name))));
  const names = handlers.flat().map(([name]) => name);
  expect(names.toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
  for (const [at, found] of handlers.entries())
    for (const [name, file] of found) {
      expect(file).toBe(fileOf(name));
      expect(files[at]).toContain(file.replace(/\.ts$/, ".test.ts"));
    }
});

/** The operations whose contract a lower module needs. The module of the handler is higher and imports the contract. */
const contractsBelow = ["challengePasskey", "executePayment"];

test("every contract is in the top-level module of its handler, except those that lower modules need", async () => {
  const topOf = (name: string): string => name.split("/")[0] ?? "";
  const contracts = new Map<string, string>();
  const handlers = new Map<string, string>();
  for (const name of floors) {
    const folder = join(root, "lib", name);
    for (const [handler] of await handlersIn(folder)) handlers.set(handler, topOf(name));
    for (const file of await readdir(folder)) {
      if (!/^(?:.*-)?contract\.ts$/.test(file)) continue;
      const text = await readFile(join(folder, file), "utf8");
      for (const [, id = ""] of text.matchAll(/^export const (\w+) = operation\(/gm)) contracts.set(id, topOf(name));
    }
  }
  expect([...contracts.keys()].toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
  expect(
    [...contracts]
      .filter(([id, module]) => handlers.get(id) !== module)
      .map(([id]) => id)
      .toSorted(),
  ).toEqual(contractsBelow);
});
