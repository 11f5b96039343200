import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Writes a configuration of fontconfig with the fonts of `test/fonts` only. Returns its path, for FONTCONFIG_FILE. */
export function ownFonts(): string {
  const folder = join(root, ".test");
  const file = join(folder, "fonts.conf");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    file,
    `<?xml version="1.0"?>
<fontconfig>
  <dir>${join(root, "test/fonts")}</dir>
  <cachedir>${join(folder, "fontconfig")}</cachedir>
</fontconfig>
`,
  );
  return file;
}
