import { index, pgTable, smallint, text } from "drizzle-orm/pg-core";
import { createdAt } from "#lib/db/columns.ts";

/** A row is inserted together with its reply, so a row that can be read is complete. */
export const idempotency = pgTable(
  "idempotency",
  {
    slot: text("slot").primaryKey(),
    fingerprint: text("fingerprint").notNull(),
    status: smallint("status").notNull(),
    body: text("body").notNull(),
    createdAt: createdAt(),
  },
  (table) => [index("idempotency_age").using("brin", table.createdAt)],
);
