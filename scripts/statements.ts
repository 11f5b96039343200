/**
 * Judges each distinct statement of the last run of the tests (docs/decisions/0060-when-time-is-read.md). With `--list` it also
 * prints the kind and the functions of each. A server of TEST_DATABASE_URL notes no statements.
 */
import { readFile } from "node:fs/promises";
import { judge, type Functions } from "./judge-statements.ts";
import { STATEMENTS } from "../test/helpers/statements.ts";

type Noted = { readonly lost: number; readonly functions: Functions; readonly statements: readonly string[] };

const none = process.env["TEST_DATABASE_URL"] ? JSON.stringify({ lost: 0, functions: {}, statements: [] }) : null;
const text = await readFile(STATEMENTS, "utf8").catch(() => none);
if (text === null) throw new Error("The tests noted no statements.");
const { lost, functions, statements } = JSON.parse(text) as Noted;
const oneLine = (statement: string): string => statement.replaceAll(/\s+/g, " ");
let wrong = 0;
for (const statement of statements) {
  const { kind, functions: called, faults } = await judge(statement, functions);
  if (process.argv.includes("--list")) console.log([kind, called.join(", "), oneLine(statement)].join("\t"));
  if (faults.length === 0) continue;
  wrong += 1;
  console.log(`\n${[...faults, oneLine(statement)].join("\n  ")}`);
}
if (lost > 0) console.log(`PostgreSQL forgot ${lost} statements before they were kept.`);
console.log(`\n${statements.length} statements judged, ${wrong} wrong`);
process.exit(wrong > 0 || lost > 0 ? 1 : 0);
