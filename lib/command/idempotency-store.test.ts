import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { forgetOldReplies } from "#lib/command/idempotency-store.ts";
import { idempotency } from "#lib/command/tables.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);

test("replies are kept for thirty days and then deleted, however many there are", async () => {
  const old = Array.from({ length: 1_500 }, (_, at) => ({ slot: `old ${at}`, createdAt: daysAgo(31) }));
  const rows = [...old, { slot: "kept", createdAt: daysAgo(29) }];
  await database()
    .insert(idempotency)
    .values(rows.map((row) => ({ ...row, fingerprint: "f", status: 200, body: "{}" })));
  expect(await forgetOldReplies()).toBe(1_500);
  expect(await database().select({ slot: idempotency.slot }).from(idempotency)).toEqual([{ slot: "kept" }]);
  expect(await forgetOldReplies()).toBe(0);
});
