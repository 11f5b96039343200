import { configure } from "safe-stable-stringify";

const write = configure({ bigint: false, strict: true });

/**
 * Writes RFC 8785 text without undefined fields. Strings must be valid Unicode.
 * @throws TypeError for a value that JSON cannot represent
 */
export function canonicalJson(value: unknown): string {
  const text = write(value);
  if (text === undefined) throw new TypeError("There is no JSON for this value.");
  return text;
}
