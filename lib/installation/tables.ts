import { sql } from "drizzle-orm";
import { boolean, check, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";

/** When each background worker ran last, in any process; noteRun does not write every run. */
export const workerRuns = pgTable("worker_runs", {
  worker: text("worker").primaryKey(),
  ranAt: moment("ran_at").notNull(),
  succeededAt: moment("succeeded_at"),
  failedAt: moment("failed_at"),
});

export const installation = pgTable(
  "installation",
  {
    only: boolean("only").primaryKey().default(true),
    environment: text("environment").notNull(),
    setupCodeHash: text("setup_code_hash"),
    claimedAt: moment("claimed_at"),
    createdAt: createdAt(),
  },
  () => [check("installation_has_one_row", sql`"only"`)],
);
