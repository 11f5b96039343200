/** What a spreadsheet would take for a formula, also behind spaces. */
const FORMULA = /^\s*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20|%]|^[\t\r\n]/;
const QUOTED = /[",\r\n]/;

/**
 * One field, by RFC 4180. Text that a spreadsheet would run as a formula begins with an apostrophe, as OWASP says (ASVS 1.2.10).
 * Figures of ours are written as they are: they never begin with a sign.
 */
export function csvField(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) || safe !== text ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One line with its end. */
export const csvLine = (values: readonly (string | number | null)[]): string => `${values.map(csvField).join(",")}\r\n`;
