import { sql } from "drizzle-orm";
import { boolean, check, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";

/** One row: which environment this database is for, and whether its first platform admin came. */
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
