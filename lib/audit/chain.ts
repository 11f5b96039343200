import { canonicalJson } from "#lib/canonical-json.ts";
import { hashedMetadata, type ByMember } from "#lib/audit/commitment.ts";
import { appendLeaf, EMPTY_ROOT, leafHash, rootOf, type Peaks } from "#lib/audit/tree.ts";
import { toWire } from "#lib/time.ts";

/**
 * An event before it is appended to an audit log. Code calls each log a chain; each organization has one, the platform has one,
 * and the log "checkpoints" is one.
 */
export type AuditEvent = {
  readonly auditEventId: string;
  /** An entity and a verb in the past tense, as in organization.created. */
  readonly type: string;
  readonly actorId: string;
  /** Null for an event that is about no organization. */
  readonly organizationId: string | null;
  readonly subjectId: string | null;
  readonly entityType: string;
  readonly entityId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /**
   * For each field of the metadata with personal data: a salted hash (commitment). The event's hash covers it instead of the
   * field, so that the field can be erased.
   */
  readonly commitments?: ByMember | null;
  /** The salts of the commitments. If a field was erased, its salt is missing. */
  readonly salts?: ByMember | null;
  readonly createdAt: Date;
};

/**
 * The tree head of an audit log (RFC 9162), in the form that is signed: the number of events and the root hash of their Merkle
 * tree.
 */
export type SignedHead = { readonly sequence: number; readonly hash: string };
/** A tree head with the roots of the complete subtrees (peaks), which are needed to append events. */
export type AuditHead = SignedHead & { readonly peaks: Peaks };
/**
 * `hash` is the event's leaf hash. `node` is the root of the largest complete subtree whose last leaf is the event; null if that
 * subtree is only the leaf.
 */
export type ChainedEvent = AuditEvent & {
  readonly chain: string;
  readonly sequence: number;
  readonly hash: string;
  readonly node: string | null;
};

export const genesis: AuditHead = { sequence: 0, hash: EMPTY_ROOT, peaks: [] };

/**
 * Whether JSON.stringify writes the metadata as RFC 8785 does. Returns true only if no value is an object, an array or null,
 * and the names are in ascending order.
 */
function isInOrder(metadata: AuditEvent["metadata"]): boolean {
  let last = "";
  for (const name in metadata) {
    if (name <= last || typeof metadata[name] === "object") return false;
    last = name;
  }
  return true;
}

/**
 * Returns the text of an event, which is hashed as a leaf of the Merkle tree. The text is the event's JSON in the API in the form
 * of RFC 8785, without `hash`, `salts`, absent fields, and the fields of the metadata that have a commitment (a salted hash). The
 * code lists the fields in sorted order, so that most events need no sorting.
 */
export function eventText(event: AuditEvent): string {
  const metadata = hashedMetadata(event);
  const told = {
    actorId: event.actorId,
    auditEventId: event.auditEventId,
    commitments: event.commitments ?? undefined,
    createdAt: toWire(event.createdAt),
    entityId: event.entityId,
    entityType: event.entityType,
    metadata,
    organizationId: event.organizationId ?? undefined,
    subjectId: event.subjectId ?? undefined,
    type: event.type,
  };
  return isInOrder(metadata) && !event.commitments ? JSON.stringify(told) : canonicalJson(told);
}

export const hashEvent = (event: AuditEvent): string => leafHash(eventText(event));

/** Appends events to the audit log that has this tree head, in the order of the array. */
export function chainEvents(
  chain: string,
  from: Pick<AuditHead, "sequence" | "peaks">,
  events: readonly AuditEvent[],
): { readonly events: readonly ChainedEvent[]; readonly head: AuditHead } {
  let { sequence, peaks } = from;
  const chained = events.map((event): ChainedEvent => {
    const hash = hashEvent(event);
    const added = appendLeaf(sequence, peaks, hash);
    peaks = added.peaks;
    sequence += 1;
    return { ...event, chain, sequence, hash, node: added.node };
  });
  return { events: chained, head: { sequence, hash: rootOf(peaks), peaks } };
}
