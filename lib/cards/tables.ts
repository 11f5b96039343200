import { index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";

/** A Stripe account whose cards ask here. We decide and Stripe moves the money, so there is no key of Stripe's API. */
export const cardConnections = pgTable(
  "card_connections",
  {
    connectionId: text("connection_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    name: text("name").notNull(),
    /** The signing secrets of the endpoint at Stripe, encrypted: the newest first, and while it is replaced the one before. */
    secrets: text("secrets").array().notNull(),
    createdBy: text("created_by").notNull(),
    createdAt: createdAt(),
    endedAt: moment("ended_at"),
  },
  (table) => [index("card_connections_of").on(table.organizationId, table.environment, table.connectionId)],
);

/** A card (`ic_…`) pays under one mandate, for one agent. */
export const cards = pgTable(
  "cards",
  {
    connectionId: text("connection_id").notNull(),
    cardId: text("card_id").notNull(),
    organizationId: text("organization_id").notNull(),
    mandateId: text("mandate_id").notNull(),
    /** The service account for which the card pays. */
    subjectId: text("subject_id").notNull(),
    name: text("name").notNull(),
    createdBy: text("created_by").notNull(),
    createdAt: createdAt(),
    removedAt: moment("removed_at"),
  },
  (table) => [primaryKey({ columns: [table.connectionId, table.cardId] }), index("cards_of_mandate").on(table.mandateId)],
);
