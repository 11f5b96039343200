import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashApiKey, matchesApiKey, newApiKey, parseApiKey } from "#lib/identity/keys/api-key.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

describe("api key", () => {
  test("a key contains its environment, its id and 256 secret bits", () => {
    for (const environment of ["sandbox", "production"] as const) {
      const { apiKey, keyId, keyPreview, secretHash } = newApiKey(environment);
      expect(parseApiKey(apiKey)).toEqual({ apiKey, keyId, environment });
      const secret = apiKey.slice(`csk_${environment}_${keyId}_`.length, -7);
      expect(secret).toHaveLength(52);
      expect(keyPreview).toBe(`csk_${environment}_${keyId}_…${apiKey.slice(-4)}`);
      expect(keyPreview + secretHash).not.toContain(secret.slice(0, 8));
    }
  });

  test("the checksum finds one wrong character without a query", () => {
    const { apiKey } = newApiKey("sandbox");
    fc.assert(
      fc.property(fc.integer({ min: 0, max: apiKey.length - 1 }), fc.constantFrom(...ALPHABET.split("")), (at, letter) => {
        fc.pre(apiKey[at] !== letter);
        expect(parseApiKey(apiKey.slice(0, at) + letter + apiKey.slice(at + 1))).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  test("the checksum also finds two swapped characters", () => {
    const { apiKey } = newApiKey("production");
    for (let at = 15; at < apiKey.length - 1; at += 1) {
      const [a, b] = [apiKey[at]!, apiKey[at + 1]!];
      if (a !== b) expect(parseApiKey(apiKey.slice(0, at) + b + a + apiKey.slice(at + 2))).toBeNull();
    }
  });

  test("any other text is refused", () => {
    const { apiKey } = newApiKey("sandbox");
    const texts = [
      "",
      "csk_",
      "csk_sandbox_a_b",
      ` ${apiKey}`,
      `${apiKey}\n`,
      apiKey.toUpperCase(),
      apiKey.replace("sandbox", "test"),
    ];
    for (const text of [...texts, "x".repeat(100_000)]) expect(parseApiKey(text)).toBeNull();
  });

  test("a key matches only its own hash", () => {
    const [one, two] = [newApiKey("sandbox"), newApiKey("sandbox")];
    expect(matchesApiKey(one.apiKey, one.secretHash)).toBe(true);
    expect(matchesApiKey(one.apiKey, two.secretHash)).toBe(false);
    expect(matchesApiKey(one.apiKey, null)).toBe(false);
    expect(matchesApiKey(one.apiKey, "")).toBe(false);
    expect(hashApiKey(one.apiKey)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});
