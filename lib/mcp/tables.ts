import { index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";

/**
 * The purchases that tools began. A call with the same arguments is the same purchase until `liveUntil`; after that it is a new one, with a
 * new key.
 */
export const mcpPurchases = pgTable(
  "mcp_purchases",
  {
    /** The hash of organization, environment, agent, tool and arguments. */
    slot: text("slot").primaryKey(),
    /** The idempotency key of the operations of this purchase. */
    purchaseKey: text("purchase_key").notNull(),
    organizationId: text("organization_id").notNull(),
    authorizationId: text("authorization_id"),
    /** The result of fetch_paid, with the seller's answer. */
    result: text("result"),
    /** How many times a client asked for the decision of a person. Each requestState is for one round, so it is used once. */
    round: integer("round").notNull().default(0),
    /** The end of the lease of the call that makes this purchase now. */
    busyUntil: moment("busy_until"),
    liveUntil: moment("live_until").notNull(),
    createdAt: createdAt(),
  },
  (table) => [index("mcp_purchases_live").on(table.liveUntil)],
);
