import { hasItsTexts } from "#lib/audit/commitment.ts";
import { hashEvent, type AuditHead, type ChainedEvent, type SignedHead } from "#lib/audit/chain.ts";
import { appendLeaf, rootOf, writePeaks } from "#lib/audit/tree.ts";

export type Bad = { readonly sequence: number; readonly auditEventId?: string; readonly detail: string };
export type Followed = { readonly head: AuditHead; readonly bad?: Bad };

/** Null if the calculation throws: a forged event can have a value without canonical JSON, such as a number above all others. */
function orNull<T>(calculate: () => T): T | null {
  try {
    return calculate();
  } catch {
    return null;
  }
}

/** Returns the tree head after the last correct event, and the first fault after it. */
export function followChain(from: AuditHead, events: readonly ChainedEvent[], signed: readonly SignedHead[] = []): Followed {
  let { sequence, peaks } = from;
  const end = (bad?: Bad): Followed => ({ head: { sequence, hash: rootOf(peaks), peaks }, ...(bad && { bad }) });
  for (const event of events) {
    const place = { sequence: sequence + 1, auditEventId: event.auditEventId };
    if (event.sequence !== place.sequence)
      return end({ sequence: place.sequence, detail: "The event with this number is missing." });
    const hash = orNull(() => hashEvent(event));
    const added = hash === event.hash ? appendLeaf(sequence, peaks, hash) : null;
    if (added === null || added.node !== event.node)
      return end({ ...place, detail: "The event does not match its hash and the events before it." });
    if (!orNull(() => hasItsTexts(event))) return end({ ...place, detail: "A text of the event differs from its commitment." });
    if (signed.some((one) => one.sequence === place.sequence && one.hash !== rootOf(added.peaks)))
      return end({ ...place, detail: "The chain differs from its signed checkpoint here." });
    ({ peaks } = added);
    sequence = place.sequence;
  }
  return end();
}

type Ends = { readonly sequence: number; readonly hash: string; readonly peaks: string; readonly newest: number };

/** Returns null if the stored tree head agrees and no event comes after it. */
export function checkEnd(head: AuditHead, stored: Ends): Bad | null {
  if (head.sequence < stored.sequence) return { sequence: head.sequence + 1, detail: "The event with this number is missing." };
  if (head.hash !== stored.hash || writePeaks(head.peaks) !== stored.peaks)
    return { sequence: head.sequence, detail: "The last event of the chain and the stored end of the chain do not agree." };
  if (stored.newest > stored.sequence)
    return { sequence: stored.sequence + 1, detail: "The event comes after the stored end of the chain." };
  return null;
}
