import { describe, expect, test } from "vitest";
import { sellerAnswerOf } from "#lib/mcp/tools/answer-of.ts";
import { ANSWER_BYTES } from "#lib/mcp/purchase/paid-client.ts";

const reply = (body: Uint8Array | null, headers: Record<string, string> = {}) => ({ status: 200, headers, body });
const bytes = (text: string) => new TextEncoder().encode(text);

describe("answerOf", () => {
  test("returns text marked as untrusted", () => {
    expect(sellerAnswerOf(reply(bytes("Grüße"), { "content-type": "text/plain" }))).toEqual({
      status: 200,
      contentType: "text/plain",
      text: "Grüße",
      truncated: false,
      untrusted: true,
    });
  });

  test("keeps the text of an answer that was cut in the middle of a character", () => {
    const cut = bytes(`${"a".repeat(ANSWER_BYTES - 2)}€`).subarray(0, ANSWER_BYTES);
    const answer = sellerAnswerOf(reply(cut));
    expect([answer.text?.length, answer.truncated]).toEqual([ANSWER_BYTES - 2, true]);
  });

  test.each([
    ["bytes that are not text", reply(new Uint8Array([0xff, 0x00])), "/wA="],
    ["compressed bytes", reply(bytes("a"), { "content-encoding": "gzip" }), "YQ=="],
  ])("writes %s in base64", (_, given, base64) => {
    expect(sellerAnswerOf(given)).toMatchObject({ base64 });
    expect(sellerAnswerOf(given).text).toBeUndefined();
  });

  test("an answer that was cut off has no text", () => {
    expect(sellerAnswerOf(reply(null))).toEqual({ status: 200, truncated: true, untrusted: true });
  });
});
