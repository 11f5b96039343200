import { sql } from "drizzle-orm";
import { check, integer, pgTable, text } from "drizzle-orm/pg-core";
import { moment } from "#lib/db/columns.ts";

/** The highest timeline that any process has seen of a PostgreSQL cluster. Each promotion of a standby begins a higher one. */
export const databaseTimelines = pgTable(
  "database_timelines",
  {
    systemIdentifier: text("system_identifier").primaryKey(),
    timeline: integer("timeline").notNull(),
    seenAt: moment("seen_at").notNull(),
  },
  () => [check("database_timelines_timeline", sql`timeline > 0`)],
);
