import { configure } from "safe-stable-stringify";

const write = configure({ bigint: false, strict: true });

/**
 * Writes a JSON value as RFC 8785 text: fields sorted by name, undefined fields left out. All text must be valid Unicode; input
 * from outside is checked for that when it is parsed.
 * @throws TypeError for a value that JSON cannot represent
 */
export function canonicalJson(value: unknown): string {
  const text = write(value);
  if (text === undefined) throw new TypeError("There is no JSON for this value.");
  return text;
}
