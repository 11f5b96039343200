import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { artifactText, artifactUrl, compile } from "./compile.ts";

describe("artifacts", () => {
  test("the committed ABI and bytecode match the sources", async () => {
    for (const artifact of await compile()) {
      expect(artifactText(artifact), artifact.contractName).toBe(await readFile(artifactUrl(artifact.contractName), "utf8"));
    }
  });
});
