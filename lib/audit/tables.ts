import { sql } from "drizzle-orm";
import {
  bigint,
  check,
  index,
  json,
  pgTable,
  pgView,
  primaryKey,
  text,
  uniqueIndex,
  type AnyPgColumn,
} from "drizzle-orm/pg-core";
import { moment } from "#lib/db/columns.ts";

/** The signed sequence, in the metadata of an event of the chain of checkpoints. */
export const signedSequence = ({ metadata }: { readonly metadata: AnyPgColumn }) => sql`((${metadata} ->> 'sequence')::bigint)`;

const eventColumns = {
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
  /** The leaf hash. */
  hash: text("hash").notNull(),
  /** The root of the largest complete subtree that ends with this event; null for a leaf alone. */
  node: text("node"),
  createdAt: moment("created_at").notNull(),
};

/**
 * Append-only: triggers refuse everything but INSERT. `chain` is an organization's id, "platform", or "checkpoints", which records the
 * signed heads of the others. The events of authorizations are in their own table.
 */
export const auditEntries = pgTable("audit_entries", eventColumns, (table) => [
  primaryKey({ columns: [table.chain, table.sequence] }),
  // Across all chains, newest first: ids sort by creation, so this index only grows at its end.
  uniqueIndex("audit_entries_newest").on(table.auditEventId),
  uniqueIndex("audit_entries_entity").on(table.entityId, table.chain, table.sequence),
  check("audit_entries_sequence", sql`sequence > 0`),
  index("audit_entries_signed")
    .on(table.entityId, signedSequence(table))
    .where(sql`chain = 'checkpoints'`),
]);

/** A view: all events, which are the entries and the authorizations. */
export const auditEvents = pgView("audit_events", eventColumns).existing();

export const auditHeads = pgTable("audit_heads", {
  chain: text("chain").primaryKey(),
  sequence: bigint("sequence", { mode: "number" }).notNull(),
  /** The root of the chain's tree. */
  hash: text("hash").notNull(),
  /** The peaks of the tree: their bytes in base64. */
  peaks: text("peaks").notNull(),
});

/** Append-only: signed heads of chains, so that a removed tail is detected. */
export const auditCheckpoints = pgTable(
  "audit_checkpoints",
  {
    chain: text("chain").notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    hash: text("hash").notNull(),
    keyId: text("key_id").notNull(),
    /** The signed head: a JWS with ES256. */
    signature: text("signature").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.sequence, table.keyId] })],
);

/** Chains that do not continue from their signed heads, until they do. The signed head is kept for processes that did not see it. */
export const auditAlarms = pgTable("audit_alarms", {
  chain: text("chain").primaryKey(),
  /** Where the chain differs, and how. */
  sequence: bigint("sequence", { mode: "number" }).notNull(),
  detail: text("detail").notNull(),
  signedSequence: bigint("signed_sequence", { mode: "number" }).notNull(),
  signedHash: text("signed_hash").notNull(),
  raisedAt: moment("raised_at")
    .notNull()
    .default(sql`clock_timestamp()`),
});
