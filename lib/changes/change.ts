export type ChangeKind = "payment" | "request" | "mandate";

/**
 * A payment, a request for approval or a mandate that changed. The message does not say how; the page reads the new state from
 * the server.
 */
export type Change = { readonly kind: ChangeKind; readonly id: string };

/** A message to a browser. `more` is true if there may be more changes than the message names. */
export type ChangeMessage = { readonly changes: readonly Change[]; readonly more: boolean };

/** An audit event of the organization. `id` is the id of the authorization or, if the event names none, of the entity. */
export type ChainEvent = { readonly sequence: number; readonly type: string; readonly id: string };

const kindsOfEntity: Readonly<Record<string, readonly ChangeKind[]>> = {
  payment: ["payment"],
  reservation: ["payment"],
  order: ["payment"],
  checkout: ["request"],
  continuation: ["request"],
  mandate: ["mandate"],
  emergency: ["mandate"],
  onchain: ["mandate"],
};

function kindsOf(type: string): readonly ChangeKind[] {
  if (type === "payment.approvalRequired") return ["payment", "request"];
  return kindsOfEntity[type.slice(0, type.indexOf("."))] ?? [];
}

/** A message names at most this many changes, so that it is short enough for a slow connection. */
const CHANGES_MAX = 30;

/**
 * Makes the message about the events after the sequence `seen`. The log's sequences have no gaps, so a gap after `seen` means
 * that events were not read. Returns null if there is no gap and the reader may see none of the events.
 */
export function messageOf(events: readonly ChainEvent[], seen: number, kinds: ReadonlySet<ChangeKind>): ChangeMessage | null {
  const unread = events.filter(({ sequence }) => sequence > seen);
  const byKey = new Map<string, Change>();
  for (const { type, id } of unread)
    for (const kind of kindsOf(type)) if (kinds.has(kind)) byKey.set(`${kind} ${id}`, { kind, id });
  const first = unread[0]?.sequence ?? seen + 1;
  const more = first > seen + 1 || byKey.size > CHANGES_MAX;
  return byKey.size > 0 || more ? { changes: [...byKey.values()].slice(-CHANGES_MAX), more } : null;
}

/** Writes a message as a server-sent event. The id is the sequence after which a browser continues when it connects again. */
export const asEvent = (sequence: number, message: ChangeMessage): string =>
  `id: ${sequence}\ndata: ${JSON.stringify(message)}\n\n`;
