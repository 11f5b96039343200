import { hashEvent, type AuditHead, type ChainedEvent } from "#lib/audit/chain.ts";

export type Bad = { readonly sequence: number; readonly auditEventId?: string; readonly detail: string };

/** Verifies the next events of a chain, in order. Returns the last good head, and the first event that is wrong. */
export function followChain(from: AuditHead, events: readonly ChainedEvent[]): { readonly head: AuditHead; readonly bad?: Bad } {
  let head = from;
  for (const event of events) {
    const sequence = head.sequence + 1;
    if (event.sequence !== sequence) return { head, bad: { sequence, detail: "The event with this number is missing." } };
    const hash = hashEvent(head.hash, sequence, event);
    if (hash !== event.hash) {
      const { auditEventId } = event;
      return { head, bad: { sequence, auditEventId, detail: "The event does not match its hash and the one before it." } };
    }
    head = { sequence, hash };
  }
  return { head };
}

/** Whether the chain ends where its head says. */
export function checkEnd(head: AuditHead, kept: AuditHead, newest: number): Bad | null {
  if (head.sequence < kept.sequence) return { sequence: head.sequence + 1, detail: "The event with this number is missing." };
  if (head.hash !== kept.hash) return { sequence: head.sequence, detail: "The chain does not end with the hash that was kept." };
  if (newest > kept.sequence) return { sequence: kept.sequence + 1, detail: "The event stands behind the end of the chain." };
  return null;
}
