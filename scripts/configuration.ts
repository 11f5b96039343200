/** Writes the table of all settings into docs/operate/configuration.md. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultOf, type Variables } from "#lib/env.ts";
import { settings } from "#lib/env-settings.ts";

export const CONFIGURATION_FILE = join(import.meta.dirname, "../docs/operate/configuration.md");

/** The document with the table of the settings as they are now. */
export function withSettings(document: string): string {
  const rows = Object.entries(settings).map(([name, { byDefault = "none", meaning }]) => {
    const value = defaultOf(name as keyof Variables);
    return `| \`${name}\` | ${value === undefined ? byDefault : `\`${value}\``} | ${meaning} |\n`;
  });
  const table = `| variable | default | meaning |\n|---|---|---|\n${rows.join("")}\n`;
  return document.replace(/(?<=-->\n\n)[\s\S]*?(?=## Daily caps)/, () => table);
}

if (import.meta.main) await writeFile(CONFIGURATION_FILE, withSettings(await readFile(CONFIGURATION_FILE, "utf8")));
