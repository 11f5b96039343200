import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { expansions, plantRelease, SENTENCES } from "./planted.ts";

const root = join(import.meta.dirname, "../..");

test("the planted release has a newer version, the planted migrations at the end, and a sentence beside the old one", async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-planted-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const path of ["package.json", "drizzle", SENTENCES]) await cp(join(root, path), join(folder, path), { recursive: true });
  const text = (path: string): Promise<string> => readFile(join(folder, path), "utf8");
  const before = await text("package.json");
  await plantRelease(folder, expansions);
  expect(await text("package.json")).not.toBe(before);
  const journal = JSON.parse(await text("drizzle/meta/_journal.json")) as { entries: { tag: string; when: number }[] };
  const planted = journal.entries.slice(-Object.keys(expansions).length);
  expect(planted.map(({ tag }) => tag)).toEqual(Object.keys(expansions));
  expect(planted.every(({ when }, at) => when > journal.entries.at(at - planted.length - 1)!.when)).toBe(true);
  expect((await text(SENTENCES)).match(/abovePerPayment\w* = .*(9000|63)/g)).toHaveLength(2);
});
