import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { newId } from "#lib/ids.ts";
import { executionOfCredential } from "#lib/settlement/store.ts";
import type { Credential } from "#lib/x402/credential.ts";
import { useDatabase } from "#test/database.ts";
import { unknownExecution } from "#test/executions.ts";

useDatabase();

test("executionOfCredential finds the newest of several executions with the same credential", async () => {
  const [payer, token, nonce] = [`0x${"1a".repeat(20)}`, `0x${"2b".repeat(20)}`, `0x${"3c".repeat(32)}`] as const;
  const failed = { settlementStatus: "failed", resolvedAt: new Date(), nextCheckAt: null };
  const { executionId, authorizationId } = await unknownExecution({ payer, nonce, tokenAddress: token, ...failed });
  const [first] = await database().select().from(executions).where(eq(executions.executionId, executionId));
  const again = newId("execution");
  await database()
    .insert(executions)
    .values({ ...first!, executionId: again, settlementStatus: "unknown", resolvedAt: null, nextCheckAt: new Date() });
  const found = await executionOfCredential(database(), { payer, nonce, token } as Credential, authorizationId);
  expect(found?.executionId).toBe(again);
});
