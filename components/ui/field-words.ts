import type { z } from "zod";

const EMPTY: ReadonlySet<unknown> = new Set([undefined, null, "", Number.NaN]);

const formats: Readonly<Record<string, string>> = {
  email: "Write an e-mail address.",
  url: "Write a full address, such as https://example.com.",
};

function tooSmall(origin: string, minimum: number | bigint): string {
  if (origin === "array") return "Choose at least one.";
  return origin === "string" ? `Use at least ${minimum} characters.` : `At least ${minimum}.`;
}

function tooBig(origin: string, maximum: number | bigint): string {
  if (origin === "array") return `Choose ${maximum} at most.`;
  return origin === "string" ? `Use at most ${maximum} characters.` : `At most ${maximum}.`;
}

/** The message for a field that fails the schema, if the schema has no message of its own. */
export function fieldWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (EMPTY.has(issue.input)) return "Fill this in.";
  if (issue.code === "too_small") return tooSmall(issue.origin, issue.minimum);
  if (issue.code === "too_big") return tooBig(issue.origin, issue.maximum);
  if (issue.code === "invalid_value") return "Choose one of the values.";
  if (issue.code === "invalid_format") return formats[issue.format] ?? "This does not have the right form.";
  if (issue.code === "invalid_type" && (issue.expected === "number" || issue.expected === "int")) return "Write a number.";
  return undefined;
}

const unescaped = (name: string): string => name.replaceAll("~1", "/").replaceAll("~0", "~");

/** Converts a problem's JSON pointer to the path of a form field: "/pricing/amount" to "pricing.amount". */
export const fieldOf = (pointer: string): string => pointer.slice(1).split("/").map(unescaped).join(".");

/** Removes fields of objects that are empty text or undefined, because an empty form field means that the value is absent. */
export function withoutBlanks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBlanks);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, part]) => part !== "" && part !== undefined);
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutBlanks(part)]));
}
