import { hash as digest } from "node:crypto";
import canonicalize from "canonicalize";
import { toWire } from "#lib/time.ts";

/** One line of an audit chain, before it has a place in it. */
export type AuditEvent = {
  readonly auditEventId: string;
  /** entity.pastTense, as in organization.created. */
  readonly type: string;
  readonly actorId: string;
  /** Null on the platform chain when no organization is concerned. */
  readonly organizationId: string | null;
  readonly subjectId: string | null;
  readonly entityType: string;
  readonly entityId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
};

export type AuditHead = { readonly sequence: number; readonly hash: string };
export type ChainedEvent = AuditEvent & { readonly chain: string; readonly sequence: number; readonly hash: string };

export const genesis: AuditHead = { sequence: 0, hash: "0".repeat(64) };

/** The event as it is hashed: RFC 8785, absent fields left out. */
function canonicalEvent(event: AuditEvent): string {
  const text = canonicalize({
    auditEventId: event.auditEventId,
    type: event.type,
    actorId: event.actorId,
    ...(event.organizationId !== null && { organizationId: event.organizationId }),
    ...(event.subjectId !== null && { subjectId: event.subjectId }),
    entityType: event.entityType,
    entityId: event.entityId,
    metadata: event.metadata,
    createdAt: toWire(event.createdAt),
  });
  if (text === undefined) throw new TypeError("An audit event must be JSON.");
  return text;
}

export const hashEvent = (previousHash: string, sequence: number, event: AuditEvent): string =>
  digest("sha256", `countersign.audit.v1\n${previousHash}\n${sequence}\n${canonicalEvent(event)}`, "hex");

/** Chains events behind a head, in order. */
export function chainEvents(chain: string, head: AuditHead, events: readonly AuditEvent[]): ChainedEvent[] {
  let { sequence, hash } = head;
  return events.map((event) => {
    sequence += 1;
    hash = hashEvent(hash, sequence, event);
    return { ...event, chain, sequence, hash };
  });
}
