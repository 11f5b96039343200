import { index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";

/** A call with the same arguments is the same purchase until `liveUntil`, and longer while a call has the lease. */
export const mcpPurchases = pgTable(
  "mcp_purchases",
  {
    /** The hash of organization, environment, agent, tool and arguments other than paymentCredential. */
    slot: text("slot").primaryKey(),
    /** The idempotency key with which the tool calls authorizePayment or placeOrder for this purchase. */
    purchaseKey: text("purchase_key").notNull(),
    organizationId: text("organization_id").notNull(),
    authorizationId: text("authorization_id"),
    /** The result of fetch_paid after a payment, with the seller's answer; null before, and for other tools. */
    result: text("result"),
    /** The number of used requestStates. Each is for one round, so that it can be used only once. */
    round: integer("round").notNull().default(0),
    /** The end of the lease with which one call works on this purchase alone. */
    busyUntil: moment("busy_until"),
    liveUntil: moment("live_until").notNull(),
    createdAt: createdAt(),
  },
  (table) => [index("mcp_purchases_live").on(table.liveUntil)],
);
