import { expect, test } from "vitest";
import { explorerUrl } from "#lib/chains/network-name.ts";
import { env } from "#lib/env.ts";

test("the link to an explorer keeps the path of its address", () => {
  const [configured] = env().CHAINS;
  if (!configured) throw new Error("no chain is configured");
  const linkAt = (explorerBaseUrl: string) => explorerUrl({ ...configured, explorerBaseUrl }, "tx/0x12");
  expect(linkAt("https://explorer.example/sepolia")).toBe("https://explorer.example/sepolia/tx/0x12");
  expect(linkAt("https://explorer.example/sepolia/")).toBe("https://explorer.example/sepolia/tx/0x12");
  expect(linkAt("https://explorer.example")).toBe("https://explorer.example/tx/0x12");
  expect(explorerUrl(null, "tx/0x12")).toBeNull();
});
