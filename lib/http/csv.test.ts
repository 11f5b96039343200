import { expect, test } from "vitest";
import { csvLine } from "#lib/http/csv.ts";

test.each([
  [["a", "b"], "a,b\r\n"],
  [["a,b", 'say "no"', "two\nlines"], '"a,b","say ""no""","two\nlines"\r\n'],
  [["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"], `'=1+1,'+1,'-1,'@SUM(A1),'\tx,"'\rx"\r\n`],
  [['=HYPERLINK("https://evil.example","x")'], `"'=HYPERLINK(""https://evil.example"",""x"")"\r\n`],
  [["0.50", ""], "0.50,\r\n"],
])("%j becomes a line that a spreadsheet reads as text", (cells, line) => {
  expect(csvLine(cells)).toBe(line);
});
