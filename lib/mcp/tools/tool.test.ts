import { expect, test } from "vitest";
import { z } from "zod";
import { sellerAnswerOf } from "#lib/mcp/tools/answer-of.ts";
import { resultOf } from "#lib/mcp/tools/tool.ts";

const controls = /[\p{Cc}\p{Bidi_Control}\u{E0041}\u200B]/u;

test("no text of a seller in an MCP answer has control characters or changes the direction of text", () => {
  const hostile = "\u202Etnega\u0007\u001B[31m\u009B2J\u2066\u200B\u{E0041}\u2028";
  const body = new TextEncoder().encode(`line 1\n\tline 2 ${hostile}`);
  const answer = sellerAnswerOf({ status: 200, headers: { "content-type": `text/x${hostile}`, location: hostile }, body });
  const output = z.looseObject({});
  const content = {
    status: "paid",
    answer,
    order: { items: [{ name: hostile, [hostile]: 1 }] },
    payment: { intent: { challenge: { resource: { description: hostile } } } },
    decision: { reasons: [{ message: hostile }] },
    problem: { detail: hostile },
  };
  const result = resultOf(output, { content, untrusted: answer.text ?? "" });
  const texts: string[] = [];
  JSON.stringify(result, (name, value: unknown) => (texts.push(name, ...(typeof value === "string" ? [value] : [])), value));
  expect(texts.filter((text) => controls.test(text.replaceAll(/[\n\t]/g, "")))).toEqual([]);
  const shown = "\uFFFDtnega\uFFFD\uFFFD[31m\uFFFD2J\uFFFD\uFFFD\uFFFD\uFFFD";
  expect(result.structuredContent).toMatchObject({ answer: { text: `line 1\n\tline 2 ${shown}` }, problem: { detail: shown } });
});
