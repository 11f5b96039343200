/** Builds dist/ with the TypeScript of the repository, and adds the license. */
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const tsc = join(root, "node_modules/typescript/bin/tsc");
rmSync(join(import.meta.dirname, "dist"), { recursive: true, force: true });
execFileSync(process.execPath, [tsc, "--project", import.meta.dirname], { stdio: "inherit" });
copyFileSync(join(root, "LICENSE"), join(import.meta.dirname, "LICENSE"));
