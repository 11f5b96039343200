import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { buildServer } from "#lib/server/build.ts";

test("builds the server again only if its source is newer", async () => {
  const madeAt = async () => (await stat(fileURLToPath(await buildServer(() => {})))).mtimeMs;
  const before = await madeAt();
  const now = new Date();
  await utimes("drizzle/meta/_journal.json", now, now);
  const after = await madeAt();
  expect(after).toBeGreaterThan(before);
  expect(await madeAt()).toBe(after);
});

test("production serves what is built, although a source is newer, and says so", async () => {
  const tree = await mkdtemp(join(tmpdir(), "countersign-test-"));
  onTestFinished(() => rm(tree, { recursive: true }));
  await mkdir(join(tree, ".next"));
  await mkdir(join(tree, ".server"));
  await writeFile(join(tree, ".next/BUILD_ID"), "the build that another process serves");
  await writeFile(join(tree, ".server/serve.mjs"), 'export const serve = () => console.log("It serves.");');
  const later = new Date(Date.now() + 60_000);
  await writeFile(join(tree, "package-lock.json"), "{}");
  await utimes(join(tree, "package-lock.json"), later, later);
  const env = { ...process.env, ENVIRONMENT: "production" };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [resolve("server.ts")], { cwd: tree, env });
  expect(stdout).toBe("It serves.\n");
  expect(stderr).toContain(".next/BUILD_ID is older than its sources and is used as it is; npm run build builds it again.");
  expect(stderr).not.toContain("building");
  expect(await readFile(join(tree, ".next/BUILD_ID"), "utf8")).toBe("the build that another process serves");
});
