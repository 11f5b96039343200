import { canonicalJson } from "#lib/canonical-json.ts";
import { hashedMetadata, type ByMember } from "#lib/audit/commitment.ts";
import { appendLeaf, EMPTY_ROOT, leafHash, rootOf, type Peaks } from "#lib/audit/tree.ts";
import { toWire } from "#lib/time.ts";

/** An event of a chain, which is an audit log: of an organization, "platform" or "checkpoints". */
export type AuditEvent = {
  readonly auditEventId: string;
  /** An entity and what happened to it, such as organization.created. */
  readonly type: string;
  readonly actorId: string;
  /** Null for an event that is about no organization. */
  readonly organizationId: string | null;
  readonly subjectId: string | null;
  readonly entityType: string;
  readonly entityId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Salted hashes of the fields with personal data. The event's hash covers these instead, so that a field can be erased. */
  readonly commitments?: ByMember | null;
  /** The salts of the commitments. If a field was erased, its salt is missing. */
  readonly salts?: ByMember | null;
  readonly createdAt: Date;
};

/** A tree head of an audit log (RFC 9162): the number of events and their root hash. */
export type SignedHead = { readonly sequence: number; readonly hash: string };
export type AuditHead = SignedHead & { readonly peaks: Peaks };
/** `hash` is the hash of the event as a leaf of the Merkle tree. appendLeaf explains `node`. */
export type ChainedEvent = AuditEvent & {
  readonly chain: string;
  readonly sequence: number;
  readonly hash: string;
  readonly node: string | null;
};

export const genesis: AuditHead = { sequence: 0, hash: EMPTY_ROOT, peaks: [] };

/** False if JSON.stringify may differ from RFC 8785: a value is an object, array or null, or the names do not ascend. */
function isInOrder(metadata: AuditEvent["metadata"]): boolean {
  let last = "";
  for (const name in metadata) {
    if (name <= last || typeof metadata[name] === "object") return false;
    last = name;
  }
  return true;
}

/**
 * The text that is hashed as a leaf: RFC 8785 JSON of the fields that are not null, without `salts` and the fields that have a
 * commitment. The code lists the fields in sorted order, so that most events need no sorting.
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
