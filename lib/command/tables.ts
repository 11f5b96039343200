import { index, pgTable, smallint, text } from "drizzle-orm/pg-core";
import { createdAt } from "#lib/db/columns.ts";

/**
 * Stored replies. A slot is the hash of organization, environment, operation and idempotency key. A row is written in one piece with its
 * reply, so a visible row is complete.
 */
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
