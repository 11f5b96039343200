import { expect, test } from "vitest";
import { broken, countDoors, sources } from "./doors.ts";

const counted = countDoors(...(await sources()));

test("lib breaks none of the rules about doors, rooms, folders and names", () => {
  expect(broken(counted)).toEqual([]);
});

test("every operation has one handler and one contract, so doors are counted without them", () => {
  expect(counted.operations.length).toBeGreaterThan(100);
  expect(counted.doors.filter((file) => counted.operations.includes(file))).toEqual([]);
});

const files = (count: number, text: (number: number) => string): [string, string][] =>
  Array.from({ length: count }, (_, number) => [`lib/holds/file${number}.ts`, text(number)]);

test.each<[string, [string, string][], string]>([
  [
    "an import of a room's file from another module",
    [
      ["lib/holds/inner/low.ts", ""],
      ["lib/payments/high.ts", 'import { low } from "#lib/holds/inner/low.ts";'],
    ],
    "lib/holds/inner/low.ts is in a room",
  ],
  [
    "a handler in a room",
    [["lib/holds/inner/act.ts", "export const act: Handler<typeof it> = 1;"]],
    "lib/holds/inner/act.ts is in a room",
  ],
  ["a folder of 21 files", files(21, () => ""), "lib/holds (21) is a folder"],
  ["a value with the name of another", files(2, () => "export const same = 1;"), "same is the name of two"],
  [
    "a file that exports from another",
    [["lib/holds/barrel.ts", 'export { a } from "./a.ts";']],
    "lib/holds/barrel.ts exports what",
  ],
  [
    "one door too many",
    [
      ...files(485, (number) => `export const value${number} = 1;`),
      [
        "lib/payments/high.ts",
        Array.from({ length: 485 }, (_, n) => `import { value${n} } from "#lib/holds/file${n}.ts";`).join("\n"),
      ],
    ],
    "lib has 485 doors",
  ],
])("the linter refuses %s", (_, planted, sentence) => {
  const found = broken(countDoors(new Map(planted), new Map()));
  expect(
    found.some((one) => one.startsWith(sentence)),
    found.join("\n"),
  ).toBe(true);
});
