import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { serviceUrl } from "../sdk/src/cli/settings.ts";
import { factsOf } from "../sdk/src/facts.ts";

test("settings that cannot be read are not called settings that are not JSON", async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("COUNTERSIGN_URL", "");
  vi.stubEnv("COUNTERSIGN_CONFIG", folder);
  await expect(serviceUrl()).rejects.toThrow(`${folder} cannot be read (EISDIR).`);
});

test.each([null, undefined, "no money", 7n])("%s, which is no Error, is described as an error", (thrown) => {
  expect(factsOf(thrown)).toEqual({ error: "Error", message: String(thrown), nextActions: [] });
});
