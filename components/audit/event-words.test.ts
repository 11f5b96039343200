import { expect, test } from "vitest";
import { eventWords } from "./event-words.ts";

test.each([
  ["payment.authorized", "Payment allowed"],
  ["member.removed", "Member removed"],
  ["feeSchedule.created", "Fee schedule created"],
  ["checkout.expired", "Checkout expired"],
])("%s reads as %s", (type, words) => {
  expect(eventWords(type)).toBe(words);
});
