import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { qrCode } from "./qr-code.ts";

const text = (code: ReturnType<typeof qrCode>) => (code ?? []).map((row) => row.map(Number).join("")).join("\n");

describe("qrCode", () => {
  // Another encoder made codes of these texts at level M with mask 0, which a decoder could read. The hashes are those of its
  // codes.
  test.each([
    ["a", 21, "ad65f877bf9411d14b0b2efbc0ca7dfffd44b86e4c5f662689ac17016c5d1b0e"],
    [
      "https://pay.example.org/checkout/cki_01kaj4n7v8e2m0x3c9t5q6r7t0",
      37,
      "1d228a340e244d20b908c49d0d28677d99039fde72ff6942fbb74998bb395775",
    ],
    ["z".repeat(106), 41, "318817c8b2dee5b77dc79296750f40805690cf3e4e48c0856b2a4ef857604017"],
    ["ü".repeat(60), 45, "12641e50ea23a9d0f81e6a3f5b0535cc2bb335bdb4b41a81cd8e60805a32ede0"],
    [`https://pay.example.org/${"x".repeat(150)}`, 53, "0e43ece7625d6df8bdc7af6a66b99beec1a2fb602579616816613f5546b7dc6c"],
    ["y".repeat(213), 57, "35655c2ba409a4d038b9f98e99648851615bbf9d09d96d99fbea8fb6d9c23e9c"],
  ])("has the same cells as the codes of another encoder: %s", (content, size, hash) => {
    const code = qrCode(content);
    expect(code).toHaveLength(size);
    expect(createHash("sha256").update(text(code)).digest("hex")).toBe(hash);
  });

  test("is null for a text that does not fit", () => {
    expect(qrCode("y".repeat(214))).toBeNull();
  });
});
