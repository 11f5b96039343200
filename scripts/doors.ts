/** Part of `npm run lint`: counts the doors of the modules of lib/, and fails if a module or a folder has too much. */
import { glob, readFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { placeOf } from "./floors.ts";

const root = join(import.meta.dirname, "..");
/** So many source files a folder of lib may have, and still be read at a glance. */
const FOLDER = 20;
/** So many doors has lib. The number only becomes smaller. */
const DOORS = 483;

const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file);
const moduleOf = (file: string): string => (file.startsWith("lib/") ? placeOf(file.slice("lib/".length)).name : "outside lib");

/** The files of lib that a text imports, types included, as paths from the root. */
function importsOf(file: string, text: string): string[] {
  const paths = [...text.matchAll(/\b(?:from|import)\s*\(?\s*"(#lib\/|\.{1,2}\/)([^"]+)"/g)];
  const found = paths.map(([, start = "", rest = ""]) =>
    start === "#lib/" ? `lib/${rest}` : posix.join(posix.dirname(file), start, rest),
  );
  return found.filter((path) => path.startsWith("lib/"));
}

/** What each exported value of a text is: an operation's contract, its handler, or any other value. */
function valuesOf(text: string): (readonly [name: string, kind: "contract" | "handler" | "value"])[] {
  const found = new Map<string, "contract" | "handler" | "value">();
  for (const [, name = "", rest = ""] of text.matchAll(/^export (?:async )?(?:const|let|function\*?|class) (\w+)(.*)$/gm))
    found.set(name, rest.startsWith(": Handler<") ? "handler" : rest.startsWith(" = operation(") ? "contract" : "value");
  return [...found];
}

async function read(patterns: readonly string[]): Promise<Texts> {
  const texts = new Map<string, string>();
  for await (const file of glob([...patterns], { cwd: root })) {
    const path = file.replaceAll("\\", "/");
    if (!isTest(path)) texts.set(path, await readFile(join(root, path), "utf8"));
  }
  return texts;
}

export type Doors = {
  /** Files that another module, `app` or `components` imports, except handlers and contracts. */
  readonly doors: readonly string[];
  /** The handlers and contracts. Each operation has one of each, and they are always doors. */
  readonly operations: readonly string[];
  /** Files in a room that are imported from outside the module, or that are a handler or a contract. */
  readonly inRooms: readonly string[];
  /** Folders with more source files than can be read at a glance, and how many each has. */
  readonly full: readonly string[];
  /** Exported values of which lib has more than one, except an operation's contract and handler. */
  readonly twice: readonly string[];
  /** Files that export what another file exports. */
  readonly barrels: readonly string[];
};

/** The folders that have more source files than one can read at a glance, each with their number. */
function fullFolders(files: Iterable<string>): string[] {
  const sizes = Map.groupBy(files, dirname);
  const full = [...sizes].filter(([, { length }]) => length > FOLDER).map(([folder, { length }]) => [folder, length] as const);
  return full.toSorted(([, a], [, b]) => b - a).map(([folder, length]) => `${folder} (${length})`);
}

function namedTwice(lib: Texts): string[] {
  const kinds = new Map<string, string[]>();
  for (const text of lib.values()) for (const [name, kind] of valuesOf(text)) kinds.set(name, [...(kinds.get(name) ?? []), kind]);
  const one = "contract handler";
  return [...kinds]
    .filter(([, found]) => found.length > 1 && found.toSorted().join(" ") !== one)
    .map(([name]) => name)
    .toSorted();
}

type Texts = ReadonlyMap<string, string>;

/** The source files of lib, and of what imports from it, by their paths from the root. */
export const sources = (): Promise<[lib: Texts, outside: Texts]> =>
  Promise.all([read(["lib/**/*.ts"]), read(["app/**/*.{ts,tsx}", "components/**/*.{ts,tsx}"])]);

export function countDoors(lib: Texts, outside: Texts): Doors {
  const imported = new Set<string>();
  for (const [file, text] of [...lib, ...outside])
    for (const path of importsOf(file, text)) if (moduleOf(path) !== moduleOf(file)) imported.add(path);
  const isOperation = (file: string): boolean => valuesOf(lib.get(file) ?? "").some(([, kind]) => kind !== "value");
  const operations = [...lib.keys()].filter((file) => isOperation(file)).toSorted();
  const doors = [...lib.keys()].filter((file) => imported.has(file) && !isOperation(file)).toSorted();
  return {
    doors,
    operations,
    inRooms: [...doors, ...operations].filter((file) => placeOf(file.slice("lib/".length)).room !== ""),
    full: fullFolders(lib.keys()),
    twice: namedTwice(lib),
    barrels: [...lib].filter(([, text]) => /^export .*\bfrom "/m.test(text)).map(([file]) => file),
  };
}

/** A sentence for each rule that is broken. */
export const broken = ({ doors, inRooms, full, twice, barrels }: Doors): string[] => [
  ...inRooms.map(
    (file) => `${file} is in a room, so no other module may import it, and it is no place for a handler or a contract.`,
  ),
  ...full.map((folder) => `${folder} is a folder with more than ${FOLDER} source files.`),
  ...twice.map((name) => `${name} is the name of two exported values.`),
  ...barrels.map((file) => `${file} exports what another file exports.`),
  ...(doors.length > DOORS ? [`lib has ${doors.length} doors and had ${DOORS}.`] : []),
];

if (import.meta.main) {
  const counted = countDoors(...(await sources()));
  const modules = [...Map.groupBy(counted.doors, moduleOf)].toSorted(([, a], [, b]) => b.length - a.length);
  console.log(`${counted.doors.length} doors: ${modules.map(([name, { length }]) => `${name} ${length}`).join(", ")}`);
  const wrong = broken(counted);
  for (const sentence of wrong) console.error(sentence);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
