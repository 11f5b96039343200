import { expect, test } from "vitest";
import type { Change } from "#lib/mandates/draft/fix-denial.ts";
import { fixWords } from "#lib/mandates/draft/fix-words.ts";

const day = { period: "day", timezone: "UTC" } as const;

test.each([
  [{ of: "perPayment", amount: "8" }, "Raise the limit per payment to 8.00 USDC"],
  [{ of: "total", amount: "8.5" }, "Raise the total to 8.50 USDC"],
  [{ of: "budget", at: 0, span: { ...day, amount: "5" }, amount: "12" }, "Raise the day’s limit to 12.00 USDC"],
  [{ of: "budget", at: 0, span: { rolling: "PT24H", amount: "5" }, amount: "12" }, "Raise the limit in 24 hours to 12.00 USDC"],
  [{ of: "count", at: 0, span: { ...day, max: 3 }, max: 4 }, "Allow 4 payments a day"],
  [{ of: "fee", amount: "0.05" }, "Raise the limit for fees to 0.05 USDC"],
  [{ of: "feeShare", bps: 250 }, "Raise the limit for fees to 2.5 % of the price"],
  [{ of: "seller", entry: "sel_1" }, "Allow this seller"],
  [{ of: "domain", entry: "shop.example.com" }, "Allow shop.example.com"],
  [
    { of: "schedule", schedule: { days: ["saturday", "monday"], from: "08:00", to: "18:00", timezone: "UTC" } },
    "Allow payments on Mondays and Saturdays from 08:00 to 18:00",
  ],
  [{ of: "agent", subjectId: "sa_1" }, "Let this agent use the mandate"],
] satisfies [Change, string][])("%j is said in words", (change, words) => {
  expect(fixWords([change], "USDC")).toBe(words);
});

test("a label for several changes says how many there are", () => {
  const changes: Change[] = [
    { of: "perPayment", amount: "8" },
    { of: "total", amount: "8" },
  ];
  expect(fixWords(changes, "USDC")).toBe("Make 2 changes");
});
