import canonicalize from "canonicalize";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "#lib/canonical-json.ts";

test("is the text of the reference implementation", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
    { numRuns: 2_000 },
  );
});

test("orders names by their UTF-16 units, also names with digits, and omits undefined fields", () => {
  const value = { "10": 1, "9": [-0, 1e21, undefined], é: "\u0001", "\u{1f600}": {}, "\ufb33": true, a: undefined };
  expect(canonicalJson(value)).toBe('{"10":1,"9":[0,1e+21,null],"é":"\\u0001","\u{1f600}":{},"\ufb33":true}');
});

test.each([undefined, Number.NaN, 1n, { deep: [Infinity] }, () => 1])("refuses values that JSON cannot contain: %s", (value) => {
  expect(() => canonicalJson(value)).toThrow();
});
