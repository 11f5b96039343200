import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { drill } from "./drill/drill.ts";
import { EmbeddedNodes } from "./drill/embedded-nodes.ts";

test("a killed primary, a promotion and the old primary beside the new one: nothing is lost, and nobody restarts", async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-drill-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const nodes = await EmbeddedNodes.make(folder);
  onTestFinished(() => nodes.close());
  const setting = { nodes, folder, say: () => {}, closing: onTestFinished };
  const { gapMs } = await drill([{ lost: "primary", way: "killed", soon: false }], setting);
  expect(gapMs).toBeLessThan(30_000);
});
