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

/** The sequence of the signed tree head that an event in the audit log "checkpoints" records. */
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
  /** In audit_entries without the fields that have a commitment; the view audit_events adds these from audit_texts. */
  metadata: json("metadata").notNull(),
  hash: text("hash").notNull(),
  /** The root of the largest complete subtree whose last leaf is this event; null if that subtree is only the leaf. */
  node: text("node"),
  createdAt: moment("created_at").notNull(),
  commitments: json("commitments").$type<ByMember>(),
};

/** All events but those of authorizations. `chain`: an organization's id, "platform", "checkpoints". Triggers refuse changes. */
export const auditEntries = pgTable("audit_entries", eventColumns, (table) => [
  primaryKey({ columns: [table.chain, table.sequence] }),
  // For lists over all audit logs, newest first.
  uniqueIndex("audit_entries_newest").on(table.auditEventId),
  uniqueIndex("audit_entries_entity").on(table.entityId, table.chain, table.sequence),
  check("audit_entries_sequence", sql`sequence > 0`),
  index("audit_entries_signed")
    .on(table.entityId, signedSequence(table))
    .where(sql`chain = 'checkpoints'`),
]);

/** Personal fields of the metadata. Rows are deleted to erase a field, never changed, and the hashes of the log stay valid. */
export const auditTexts = pgTable(
  "audit_texts",
  {
    chain: text("chain").notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    name: text("name").notNull(),
    salt: hashBytes("salt").notNull(),
    /** The value of the field as canonical JSON (RFC 8785). */
    text: text("text").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.sequence, table.name] })],
);

/** All events: audit_entries with their fields from audit_texts, and authorizations. An erased field has the value "erased". */
export const auditEvents = pgView("audit_events", { ...eventColumns, salts: json("salts").$type<ByMember>() }).existing();

export const auditHeads = pgTable("audit_heads", {
  chain: text("chain").primaryKey(),
  sequence: bigint("sequence", { mode: "number" }).notNull(),
  hash: text("hash").notNull(),
  /** The Peaks of the Merkle tree, as bytes in base64. */
  peaks: text("peaks").notNull(),
});

/** Rows are never changed or deleted. They show if the last events of a log were removed. */
export const auditCheckpoints = pgTable(
  "audit_checkpoints",
  {
    chain: text("chain").notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    hash: text("hash").notNull(),
    keyId: text("key_id").notNull(),
    signature: text("signature").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.sequence, table.keyId] })],
);

/** A row is deleted when its log is signed again. Its tree head is the last signed one, for processes that do not know that one. */
export const auditAlarms = pgTable("audit_alarms", {
  chain: text("chain").primaryKey(),
  /** The first wrong or missing event, or the sequence of a wrong tree head; 0 if the file AUDIT_HEADS_FILE cannot be used. */
  sequence: bigint("sequence", { mode: "number" }).notNull(),
  detail: text("detail").notNull(),
  signedSequence: bigint("signed_sequence", { mode: "number" }).notNull(),
  signedHash: text("signed_hash").notNull(),
  raisedAt: moment("raised_at")
    .notNull()
    .default(sql`clock_timestamp()`),
});
