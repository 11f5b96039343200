/** Finds text that a spreadsheet could run as a formula, even after spaces. */
const FORMULA = /^\s*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20|%]|^[\t\r\n]/;
const QUOTED = /[",\r\n]/;

/** RFC 4180. An apostrophe in front keeps a spreadsheet from running text as a formula (OWASP ASVS 1.2.10). */
export function csvField(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) || safe !== text ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvLine = (values: readonly (string | number | null)[]): string => `${values.map(csvField).join(",")}\r\n`;
