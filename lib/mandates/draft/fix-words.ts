import type { Change } from "#lib/mandates/draft/fix-denial.ts";
import { daysWords, feeWords, spanWords } from "#lib/mandates/policy/words.ts";
import { displayText } from "#lib/money.ts";
import type { Period } from "#lib/vocabulary.ts";

const limits: Readonly<Record<Period, string>> = {
  day: "the day’s limit",
  week: "the week’s limit",
  month: "the month’s limit",
  year: "the year’s limit",
};

export function changeWords(change: Change, asset: string): string {
  switch (change.of) {
    case "perPayment":
      return `Raise the limit per payment to ${displayText(change.amount, asset)}`;
    case "total":
      return `Raise the total to ${displayText(change.amount, asset)}`;
    case "budget": {
      const { span, amount } = change;
      const limit = "period" in span ? limits[span.period] : `the limit ${spanWords(span)}`;
      return `Raise ${limit} to ${displayText(amount, asset)}`;
    }
    case "count":
      return `Allow ${change.max} payments ${spanWords(change.span)}`;
    case "fee":
      return `Raise the limit for fees to ${displayText(change.amount, asset)}`;
    case "feeShare":
      return `Raise the limit for fees to ${feeWords(change.bps)}`;
    case "schedule": {
      const { days, from, to } = change.schedule;
      return `Allow payments ${daysWords(days)} from ${from} to ${to}`;
    }
    case "seller":
      return "Allow this seller";
    case "payTo":
      return "Allow this address";
    case "domain":
      return `Allow ${change.entry}`;
    case "resource":
      return "Allow this resource";
    case "agent":
      return "Let this agent use the mandate";
  }
}

export function fixWords(changes: readonly Change[], asset: string): string {
  const [first] = changes;
  if (!first) return "";
  return changes.length === 1 ? changeWords(first, asset) : `Make ${changes.length} changes`;
}
