import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BODY_BYTES_MAX, parseJson, readBody, requireJsonAccepted, requireJsonType } from "#lib/http/json.ts";
import { isProblem } from "#lib/problem.ts";

const refusal = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (isProblem(error)) return { code: error.code, pointer: error.details.errors?.[0]?.pointer };
    throw error;
  }
  return null;
};

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const big = `[${Array.from({ length: 1999 }, () => "0").join(",")}]`;

describe("parseJson", () => {
  test.each([
    ["a duplicate key", '{"amount":"1","amount":"1000000"}', "/amount"],
    ["a duplicate key behind an escape", '{"amount":"1","\\u0061mount":"2"}', "/amount"],
    ["a duplicate key deep inside", '{"a":[{"b":1},{"c":1,"c":2}]}', "/a/1/c"],
    ["a duplicate key with a slash", '{"a/b":1,"a/b":2}', "/a~1b"],
    ["__proto__", '{"__proto__":{"admin":true}}', "/__proto__"],
    ["__proto__ behind an escape", '{"x":{"__pr\\u006fto__":1}}', "/x/__proto__"],
    ["NUL in a value", '{"name":"a\\u0000b"}', "/name"],
    ["NUL in a key", '{"a\\u0000":1}', ""],
    ["half of a surrogate pair", '{"name":"\\ud800"}', "/name"],
    ["the other half alone", '{"list":["ok","\\udc00 x"]}', "/list/1"],
    ["an integer beyond 2^53", '{"n":9007199254740993}', "/n"],
    ["an exponent beyond 2^53", '{"n":1234567890123e99}', "/n"],
    ["an infinite number", '{"n":1e400000000000000}', "/n"],
    ["a short infinite number", '{"n":1e400}', "/n"],
    ["a short number that becomes zero", '{"n":1e-400}', "/n"],
    ["a number that becomes zero", '{"n":1e-4000000000000}', "/n"],
    ["a fraction that is rounded", '{"n":0.12345678901234567890}', "/n"],
    ["digits without end", `{"n":0.${"1".repeat(60_000)}}`, "/n"],
    ["depth", nested(17), "/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0"],
    ["depth of objects", '{"a":'.repeat(17) + "1" + "}".repeat(17), "/a".repeat(16)],
    ["a huge depth", nested(30_000), "/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0"],
    ["too many nodes", big.replace("]", ",0]"), ""],
  ])("refuses %s and points at it", (_name, text, pointer) => {
    expect(refusal(() => parseJson(text))).toEqual({ code: "invalid_request", pointer });
  });

  test.each([
    "",
    " ",
    "{",
    '{"a"',
    '{"a":}',
    "[1,]",
    "nul",
    "01",
    "+1",
    ".5",
    "1.",
    "NaN",
    "Infinity",
    "'a'",
    '"',
    '"\\',
    '"\\x"',
    '{"a":1}}',
    "]",
    ",",
    "\uFEFF{}",
    '{"a":"\n"}',
    "//",
    "{a:1}",
    "[-]",
    '{"a":"\\u12"}',
  ])("refuses what is not JSON: %j", (text) => {
    expect(refusal(() => parseJson(text))).toMatchObject({ code: "invalid_request" });
  });

  test.each([
    nested(16),
    big,
    '{"a":{"x":1},"b":{"x":1}}',
    '{"a":"\\ud83d\\ude00","b":"\\"a\\"","c":"\\\\"}',
    '[{"a":1},{"a":2}]',
    '{"n":9007199254740991}',
    '{"n":-0.25,"e":1.5e3}',
    '{"n":123456.12345678900000}',
    '"text"',
    "null",
    "true",
  ])("accepts %.60s", (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test("reads everything that JSON.stringify writes, within the limits", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        const parsed = refusal(() => parseJson(text));
        if (parsed === null) expect(parseJson(text)).toEqual(JSON.parse(text));
        else expect(text).toMatch(/\\u0000|\\ud|__proto__|\d{16}|e[+-]?\d/);
      }),
    );
  });

  test("takes linear time on hostile text", () => {
    const started = performance.now();
    for (const text of [
      '"'.repeat(65_536),
      "\\".repeat(65_536),
      `0.${"0".repeat(65_000)}1`,
      `{"${"a".repeat(65_000)}":1}`,
      "-".repeat(65_536),
      "1e".repeat(30_000),
    ]) {
      refusal(() => parseJson(text));
    }
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe("readBody", () => {
  const post = (body: BodyInit, headers: Record<string, string> = {}) =>
    new Request("http://localhost/", { method: "POST", body, headers, duplex: "half" } as RequestInit);

  test("413 before a declared large body is read", async () => {
    await expect(readBody(post("x", { "content-length": String(BODY_BYTES_MAX + 1) }))).rejects.toMatchObject({
      code: "body_too_large",
    });
  });

  test("413 while a body without a length arrives, before its end", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 8192;
        controller.enqueue(new Uint8Array(8192));
      },
    });
    await expect(readBody(post(endless))).rejects.toMatchObject({ code: "body_too_large" });
    expect(sent).toBeLessThan(BODY_BYTES_MAX * 3);
  });

  test("a body of exactly 64 KiB passes, one byte more does not", async () => {
    await expect(readBody(post("a".repeat(BODY_BYTES_MAX)))).resolves.toHaveLength(BODY_BYTES_MAX);
    await expect(readBody(post("a".repeat(BODY_BYTES_MAX + 1)))).rejects.toMatchObject({ code: "body_too_large" });
  });

  test("400 if the connection of the client breaks", async () => {
    const broken = new ReadableStream({
      pull: (controller) => controller.error(Object.assign(new Error("aborted"), { code: "ECONNRESET" })),
    });
    await expect(readBody(post(broken))).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("bytes that are not UTF-8 are refused and not replaced", async () => {
    await expect(readBody(post(new Uint8Array([0x22, 0xff, 0x22])))).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("content types", () => {
  test.each(["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"])("%s is JSON", (type) => {
    expect(refusal(() => requireJsonType(type))).toBeNull();
  });
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "application/jsonx",
    "multipart/form-data; boundary=x",
    "",
  ])("415 for %j", (type) => {
    expect(refusal(() => requireJsonType(type))?.code).toBe("content_type_unsupported");
  });
  test.each([null, "*/*", "application/json", "application/*;q=0.1", "text/html, */*;q=0.8", "APPLICATION/JSON"])(
    "Accept %j has JSON",
    (accept) => {
      expect(refusal(() => requireJsonAccepted(accept))).toBeNull();
    },
  );
  test.each(["text/html", "application/json;q=0", "application/json;q=0, */*", "image/*"])("406 for Accept %j", (accept) => {
    expect(refusal(() => requireJsonAccepted(accept))?.code).toBe("not_acceptable");
  });
});
