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

/** The sequence that a checkpoint signed, from the metadata of an event of the chain of checkpoints. */
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
 * The audit events that are not authorizations. Append-only: triggers refuse everything except INSERT. `chain` is an organization's id,
 * "platform", or "checkpoints", which records the signed heads of the other chains.
 */
export const auditEntries = pgTable("audit_entries", eventColumns, (table) => [
  primaryKey({ columns: [table.chain, table.sequence] }),
  // For lists over all chains, newest first. Ids sort by the time at which they were made, so this index grows only at its end.
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

/** The signed heads of chains. Append-only. They show if the last events of a chain were removed. */
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

/**
 * Chains that do not continue from their signed heads. A row is deleted when its chain does again. The signed head is stored for processes
 * that did not see it.
 */
export const auditAlarms = pgTable("audit_alarms", {
  chain: text("chain").primaryKey(),
  /** The first sequence at which the chain differs. */
  sequence: bigint("sequence", { mode: "number" }).notNull(),
  /** How the chain differs, in one sentence. */
  detail: text("detail").notNull(),
  signedSequence: bigint("signed_sequence", { mode: "number" }).notNull(),
  signedHash: text("signed_hash").notNull(),
  raisedAt: moment("raised_at")
    .notNull()
    .default(sql`clock_timestamp()`),
});
