import { stat, utimes } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { buildServer } from "#lib/server/build.ts";

test("the server is made anew where it is older than what it was made from, and only there", async () => {
  const madeAt = async () => (await stat(fileURLToPath(await buildServer()))).mtimeMs;
  const before = await madeAt();
  const now = new Date();
  await utimes("drizzle/meta/_journal.json", now, now);
  const after = await madeAt();
  expect(after).toBeGreaterThan(before);
  expect(await madeAt()).toBe(after);
});
