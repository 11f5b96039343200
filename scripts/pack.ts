/**
 * Makes `dist`, the part of the package `countersign-server` that npm packs: programs that are bundled, and the pages with the packages
 * that they need, as plain files, because npm drops symbolic links.
 */
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { buildPages } from "#lib/server/build.ts";
import manifest from "../package.json" with { type: "json" };
import { nodeFlags } from "./node-flags.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const say = (line: string): void => console.error(`countersign: ${line}`);

const programs = {
  start: "scripts/commands/start.ts",
  migrate: "scripts/commands/migrate.ts",
  "setup-code": "scripts/commands/setup-code.ts",
  restored: "scripts/commands/restored.ts",
  "copy-database": "scripts/commands/copy-database.ts",
  pages: "pages.ts",
  demo: "scripts/demo.ts",
  verify: "scripts/verify.ts",
  "chain-deploy": "scripts/deploy.ts",
};

/** One file for each program, because one file starts faster than many. */
async function bundle(name: string, input: string): Promise<void> {
  const made = await rolldown({
    input,
    platform: "node",
    logLevel: "silent",
    external: [/^next(?:$|\/)/, "@playwright/test", "rolldown"],
  });
  await made.write({ file: join(dist, `${name}.mjs`), format: "esm", codeSplitting: false });
  await made.close();
}

await buildPages(say);
await rm(dist, { recursive: true, force: true });
await mkdir(dist);
// The copy of the pages' packages by Next.js has symbolic links.
await cp(join(root, ".next/standalone/node_modules"), join(dist, "node_modules"), { recursive: true, dereference: true });
// Images are not optimized, and these are programs for one platform.
for (const unused of ["sharp", "@img"]) await rm(join(dist, "node_modules", unused), { recursive: true });
await cp(join(root, ".next/standalone/.next"), join(dist, ".next"), { recursive: true, dereference: true });
await cp(join(root, ".next/static"), join(dist, ".next/static"), { recursive: true });
// The paths of this machine mean nothing where the package runs.
const configuration = join(dist, ".next/required-server-files.json");
await writeFile(configuration, (await readFile(configuration, "utf8")).replaceAll(JSON.stringify(root).slice(1, -1), "."));
for (const folder of ["public", "drizzle", "examples/agent.py"])
  await cp(join(root, folder), join(dist, folder), { recursive: true });
for (const [name, input] of Object.entries(programs)) await bundle(name, input);
await writeFile(join(dist, "package.json"), JSON.stringify({ type: "module", version: manifest.version, nodeFlags }));
