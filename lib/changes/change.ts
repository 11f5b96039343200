export type ChangeKind = "payment" | "request" | "mandate";

/** The message does not contain the new state; the page reads it from the server. */
export type Change = { readonly kind: ChangeKind; readonly id: string };

/** `more` is true if there may be more changes than the message names. */
export type ChangeMessage = { readonly changes: readonly Change[]; readonly more: boolean };

/** `id` is the id of the authorization or, if the event names none, of the entity. */
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

/** After these a person is asked about the payment, or is not asked any more. */
const asks: ReadonlySet<string> = new Set([
  "payment.approvalRequired",
  "payment.exceeded",
  "payment.overdue",
  "payment.recorded",
]);

function kindsOf(type: string): readonly ChangeKind[] {
  if (asks.has(type)) return ["payment", "request"];
  return kindsOfEntity[type.slice(0, type.indexOf("."))] ?? [];
}

/** A message must be short enough for a slow connection. */
const CHANGES_MAX = 30;

/** The log has no gaps, so a gap after `seen` means that events were not read. Null if there is no gap and no visible event. */
export function changeMessageOf(
  events: readonly ChainEvent[],
  seen: number,
  kinds: ReadonlySet<ChangeKind>,
): ChangeMessage | null {
  const unread = events.filter(({ sequence }) => sequence > seen);
  const byKey = new Map<string, Change>();
  for (const { type, id } of unread)
    for (const kind of kindsOf(type)) if (kinds.has(kind)) byKey.set(`${kind} ${id}`, { kind, id });
  const first = unread[0]?.sequence ?? seen + 1;
  const more = first > seen + 1 || byKey.size > CHANGES_MAX;
  return byKey.size > 0 || more ? { changes: [...byKey.values()].slice(-CHANGES_MAX), more } : null;
}

/** The id is the sequence after which a browser continues when it connects again. */
export const asEvent = (sequence: number, message: ChangeMessage): string =>
  `id: ${sequence}\ndata: ${JSON.stringify(message)}\n\n`;
