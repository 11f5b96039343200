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
import type { ByMember } from "#lib/audit/commitment.ts";
import { hashBytes, moment } from "#lib/db/columns.ts";

/** Reads the sequence of the signed tree head that an event in the audit log "checkpoints" records in its metadata. */
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
  /**
   * The table audit_entries stores the metadata without the fields that have a commitment. The view audit_events adds these
   * fields from audit_texts.
   */
  metadata: json("metadata").notNull(),
  /** The hash of this event as a leaf of the Merkle tree. */
  hash: text("hash").notNull(),
  /** The root of the largest complete subtree whose last leaf is this event; null if that subtree is only the leaf. */
  node: text("node"),
  createdAt: moment("created_at").notNull(),
  /**
   * The salted hash (commitment) of each field of the metadata that has personal data, by the field's name (see commitment.ts).
   */
  commitments: json("commitments").$type<ByMember>(),
};

/**
 * The audit events that are not authorizations. Rows are never changed or deleted: triggers refuse everything except INSERT.
 * `chain` names the audit log: an organization's id, "platform", or "checkpoints", whose events record the signed tree heads of
 * the other logs.
 */
export const auditEntries = pgTable("audit_entries", eventColumns, (table) => [
  primaryKey({ columns: [table.chain, table.sequence] }),
  // This index is for lists over all audit logs, newest first. Ids sort by creation time, so the index grows only at its end.
  uniqueIndex("audit_entries_newest").on(table.auditEventId),
  uniqueIndex("audit_entries_entity").on(table.entityId, table.chain, table.sequence),
  check("audit_entries_sequence", sql`sequence > 0`),
  index("audit_entries_signed")
    .on(table.entityId, signedSequence(table))
    .where(sql`chain = 'checkpoints'`),
]);

/**
 * The fields of the metadata of audit_entries that have personal data, each with the salt of its hash (commitment). Rows are
 * inserted and deleted, never changed. To delete a row is to erase the field, and the hashes of the audit log stay valid.
 */
export const auditTexts = pgTable(
  "audit_texts",
  {
    chain: text("chain").notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    /** The name of the field in the metadata. */
    name: text("name").notNull(),
    salt: hashBytes("salt").notNull(),
    /** The value of the field as canonical JSON (RFC 8785). */
    text: text("text").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.sequence, table.name] })],
);

/**
 * The view of all events: the rows of audit_entries with their fields from audit_texts, and the authorizations. A field that was
 * erased has the value "erased".
 */
export const auditEvents = pgView("audit_events", { ...eventColumns, salts: json("salts").$type<ByMember>() }).existing();

export const auditHeads = pgTable("audit_heads", {
  chain: text("chain").primaryKey(),
  sequence: bigint("sequence", { mode: "number" }).notNull(),
  /** The root hash of the Merkle tree of the log's events. */
  hash: text("hash").notNull(),
  /** The roots of the complete subtrees of the Merkle tree, as bytes in base64. */
  peaks: text("peaks").notNull(),
});

/** The signed tree heads of audit logs. Rows are never changed or deleted. They show if the last events of a log were removed. */
export const auditCheckpoints = pgTable(
  "audit_checkpoints",
  {
    chain: text("chain").notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    hash: text("hash").notNull(),
    keyId: text("key_id").notNull(),
    /** The signed tree head: a JWS with ES256. */
    signature: text("signature").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.sequence, table.keyId] })],
);

/**
 * Audit logs that do not agree with their signed tree heads, or whose signed tree heads cannot be trusted. The row is deleted
 * when the log is signed again. The signed tree head is stored here for processes that have not seen it.
 */
export const auditAlarms = pgTable("audit_alarms", {
  chain: text("chain").primaryKey(),
  /** The number of the first event that differs from what was signed; 0 if the file AUDIT_HEADS_FILE cannot be used. */
  sequence: bigint("sequence", { mode: "number" }).notNull(),
  /** What is wrong, in one sentence. */
  detail: text("detail").notNull(),
  signedSequence: bigint("signed_sequence", { mode: "number" }).notNull(),
  signedHash: text("signed_hash").notNull(),
  raisedAt: moment("raised_at")
    .notNull()
    .default(sql`clock_timestamp()`),
});
