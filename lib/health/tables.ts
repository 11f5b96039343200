import { pgTable, text } from "drizzle-orm/pg-core";
import { moment } from "#lib/db/columns.ts";

/** One row per process, which it writes to find out whether it can commit. */
export const processCommits = pgTable("process_commits", {
  processId: text("process_id").primaryKey(),
  committedAt: moment("committed_at").notNull(),
});
