import { stat, utimes } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { buildServer } from "#lib/server/build.ts";

test("builds the server again only if its source is newer", async () => {
  const madeAt = async () => (await stat(fileURLToPath(await buildServer()))).mtimeMs;
  const before = await madeAt();
  const now = new Date();
  await utimes("drizzle/meta/_journal.json", now, now);
  const after = await madeAt();
  expect(after).toBeGreaterThan(before);
  expect(await madeAt()).toBe(after);
});
