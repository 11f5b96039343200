import { hash as digest } from "node:crypto";
import { canonicalJson } from "#lib/canonical-json.ts";
import { toWire } from "#lib/time.ts";

/** An event before it is appended to an audit chain. */
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

/** Whether JSON.stringify writes it as RFC 8785 does: no nested values, and names in ascending order. */
function isInOrder(metadata: AuditEvent["metadata"]): boolean {
  let last = "";
  for (const name in metadata) {
    if (name <= last || typeof metadata[name] === "object") return false;
    last = name;
  }
  return true;
}

/** The RFC 8785 text that is hashed, without absent fields. Fields are written in sorted order, so that most events need no sorting. */
function canonicalEvent(event: AuditEvent): string {
  const told = {
    actorId: event.actorId,
    auditEventId: event.auditEventId,
    createdAt: toWire(event.createdAt),
    entityId: event.entityId,
    entityType: event.entityType,
    metadata: event.metadata,
    organizationId: event.organizationId ?? undefined,
    subjectId: event.subjectId ?? undefined,
    type: event.type,
  };
  return isInOrder(event.metadata) ? JSON.stringify(told) : canonicalJson(told);
}

export const hashEvent = (previousHash: string, sequence: number, event: AuditEvent): string =>
  digest("sha256", `countersign.audit.v1\n${previousHash}\n${sequence}\n${canonicalEvent(event)}`, "hex");

/** Appends events to a head, in order. */
export function chainEvents(chain: string, head: AuditHead, events: readonly AuditEvent[]): ChainedEvent[] {
  let { sequence, hash } = head;
  return events.map((event) => {
    sequence += 1;
    hash = hashEvent(hash, sequence, event);
    return { ...event, chain, sequence, hash };
  });
}
