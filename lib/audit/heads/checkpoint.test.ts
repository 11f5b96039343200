import { expect, test } from "vitest";
import { signCheckpoint } from "#lib/audit/heads/checkpoint.ts";
import { publicKeys, signingKey } from "#lib/audit/signing-key.ts";
import { headToken, readJws } from "#lib/receipts/compact-jws.ts";
import { readKeys } from "#lib/receipts/published-keys.ts";
import { Head } from "#lib/receipts/receipt-schema.ts";

test("the keys that this service publishes, and the heads of logs that it signs, are accepted", async () => {
  const published = await readKeys(publicKeys());
  for (let size = 1; size <= 20; size += 1) {
    const head = { sequence: size, hash: "0".repeat(64), chain: "checkpoints", createdAt: new Date() };
    const { signature } = signCheckpoint(head, signingKey());
    expect(Head.parse(await readJws(signature, headToken, published))).toMatchObject({ log: "checkpoints", size });
  }
});
