export type ChangeKind = "payment" | "request" | "mandate";

/** A payment, a request or a mandate that changed. The message does not say how; the page reads the new state from the server. */
export type Change = { readonly kind: ChangeKind; readonly id: string };

/** `more`: there were more changes, of any kind, than the message names. */
export type ChangeMessage = { readonly changes: readonly Change[]; readonly more: boolean };

/** An event of the organization's audit chain. `id` is the authorization's id, or the entity's if the event names no authorization. */
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

/** The most changes in one message, so that a message is short enough for a slow connection. */
const CHANGES_MAX = 30;

/** The message about the events after `seen`; null if no event is of these kinds. Sequences have no gaps, so a gap means unread events. */
export function messageOf(events: readonly ChainEvent[], seen: number, kinds: ReadonlySet<ChangeKind>): ChangeMessage | null {
  const unread = events.filter(({ sequence }) => sequence > seen);
  const byKey = new Map<string, Change>();
  for (const { type, id } of unread)
    for (const kind of kindsOf(type)) if (kinds.has(kind)) byKey.set(`${kind} ${id}`, { kind, id });
  const first = unread[0]?.sequence ?? seen + 1;
  const more = first > seen + 1 || byKey.size > CHANGES_MAX;
  return byKey.size > 0 || more ? { changes: [...byKey.values()].slice(-CHANGES_MAX), more } : null;
}

/** A message as a server-sent event. Its id is the sequence after which a reconnected stream continues. */
export const asEvent = (sequence: number, message: ChangeMessage): string =>
  `id: ${sequence}\ndata: ${JSON.stringify(message)}\n\n`;
