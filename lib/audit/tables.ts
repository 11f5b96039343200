import { bigint, json, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { moment } from "#lib/db/columns.ts";

/** Append-only: triggers refuse everything but INSERT. `chain` is an organization's id or "platform". */
export const auditEvents = pgTable(
  "audit_events",
  {
    chain: text("chain").notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    auditEventId: text("audit_event_id").notNull(),
    type: text("type").notNull(),
    actorId: text("actor_id").notNull(),
    organizationId: text("organization_id"),
    subjectId: text("subject_id"),
    entityType: text("entity_type").notNull(),
    entityId: text("entity_id").notNull(),
    metadata: json("metadata").notNull(),
    hash: text("hash").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chain, table.sequence] }),
    // Across all chains, newest first: ids sort by creation, so this index only grows at its end.
    uniqueIndex("audit_events_newest").on(table.auditEventId),
    uniqueIndex("audit_events_entity").on(table.entityId, table.chain, table.sequence),
  ],
);

export const auditHeads = pgTable("audit_heads", {
  chain: text("chain").primaryKey(),
  sequence: bigint("sequence", { mode: "number" }).notNull(),
  hash: text("hash").notNull(),
});

/** Append-only: the head of a chain at some time, signed, so that a tail that is cut off shows. */
export const auditCheckpoints = pgTable(
  "audit_checkpoints",
  {
    chain: text("chain").notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    hash: text("hash").notNull(),
    keyId: text("key_id").notNull(),
    /** Ed25519, base64url. */
    signature: text("signature").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.sequence, table.keyId] })],
);
