import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { bringAllForward } from "#lib/platform/due-time-store.ts";
import { useDatabase } from "#test/database.ts";
import { unknownExecution } from "#test/executions.ts";

useDatabase();

describe("the next check of a payment", () => {
  test.each([
    ["of a minute", "1 minute", "1 minute", 0],
    ["of a month, which is looked at twice an hour,", "30 days", "29 minutes", 0],
    ["of a month whose check a clock that ran ahead has postponed", "30 days", "2 hours", 1],
    ["of a minute whose check a clock that ran ahead has postponed", "1 minute", "29 minutes", 1],
  ])("%s is brought forward only if no code can have set it", async (_name, age, ahead, moved) => {
    await unknownExecution();
    await database()
      .update(executions)
      .set({
        createdAt: sql`statement_timestamp() - ${age}::interval`,
        nextCheckAt: sql`statement_timestamp() + ${ahead}::interval`,
      });
    expect(await bringAllForward()).toBe(moved);
    await database().delete(executions);
  });
});
