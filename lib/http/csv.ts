/** Finds text that a spreadsheet would run as a formula, even after spaces. */
const FORMULA = /^\s*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20|%]|^[\t\r\n]/;
const QUOTED = /[",\r\n]/;

/**
 * Writes one field as in RFC 4180. Text that a spreadsheet would run as a formula gets an apostrophe in front (OWASP ASVS
 * 1.2.10). The service's own numbers never begin with a sign, so they do not change.
 */
export function csvField(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) || safe !== text ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Writes one line, with a line break at its end. */
export const csvLine = (values: readonly (string | number | null)[]): string => `${values.map(csvField).join(",")}\r\n`;
