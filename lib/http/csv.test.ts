import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csvField, csvLine } from "#lib/http/csv.ts";

/** Parses a line of a CSV file as RFC 4180 describes it. */
const read = (line: string): string[] =>
  [...line.replace(/\r\n$/, "").matchAll(/(?<=^|,)(?:"(?:[^"]|"")*"|[^,"]*)(?=,|$)/g)].map(([field]) =>
    field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field,
  );

describe("a CSV file", () => {
  test.each([
    ["=1+1", `"'=1+1"`],
    ["+41", `"'+41"`],
    ["-2", `"'-2"`],
    ["@SUM(A1)", `"'@SUM(A1)"`],
    ["  =cmd|' /C calc'!A0", `"'  =cmd|' /C calc'!A0"`],
    ["\t=1", `"'\t=1"`],
    ["\r=1", `"'\r=1"`],
    ["＝1", `"'＝1"`],
    ["a,b", `"a,b"`],
    ['say "hi"', `"say ""hi"""`],
    ["plain", "plain"],
    ["20.20", "20.20"],
    ["", ""],
  ])("writes %j so that no spreadsheet executes it", (text, written) => expect(csvField(text)).toBe(written));

  test("writes null as an empty field, and ends each line", () => {
    expect(csvLine(["a", null, 3])).toBe("a,,3\r\n");
  });

  test("is read back as it was written, except for the apostrophe", () => {
    const text = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 6 }), (values) => {
        const back = read(csvLine(values));
        expect(back).toHaveLength(values.length);
        for (const [at, value] of values.entries()) {
          expect([value, `'${value}`]).toContain(back[at]);
          expect(back[at]).not.toMatch(/^[=+\-@\t\r]/);
        }
      }),
    );
  });
});
