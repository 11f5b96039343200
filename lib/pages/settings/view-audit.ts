import { hashEvent, type ChainedEvent } from "#lib/audit/chain.ts";
import { kinds, type AuditPage, type EventDetail, type EventLine } from "#lib/pages/settings/event-line.ts";
import { listAuditEvents } from "#lib/audit/contract.ts";
import { inclusionOf } from "#lib/audit/prove-event.ts";
import { readEnds, readEvents } from "#lib/audit/read-store.ts";
import { rootFromPath } from "#lib/audit/tree.ts";
import { lengthOf, searchEntity, searchStretch, timeAt, type Query } from "#lib/audit/search-store.ts";
import { database } from "#lib/db/client.ts";
import { compileAccess } from "#lib/http/access.ts";
import type { MemberCaller } from "#lib/http/operation.ts";
import { decodeCursor, encodeCursor } from "#lib/http/paging.ts";
import { subjectNames } from "#lib/identity/subject-name-store.ts";
import { invalidField, notFound } from "#lib/problem.ts";
import { daysAfter, readDay, toWire } from "#lib/time.ts";

const ROWS = 30;
/** The maximum number of events that one page searches for matches if it cannot use the index for entities. */
const STRETCH = 5_000;
/** Concurrent events may have sequence numbers in another order than their times, so search this many more events. */
const SLACK = 200;
const ID = /^[A-Za-z0-9_.:-]{1,128}$/;

/** Days are UTC, and the day of `until` is included. */
export type AuditFilters = {
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
};

const requireAccess = compileAccess(listAuditEvents.access);

/** An invalid kind or day is ignored; an invalid id matches nothing. */
export function auditQueryOf({ kind, id, since, until }: AuditFilters): Query {
  const last = readDay(until);
  return {
    kinds: (kind !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind]?.types : undefined) ?? [],
    id: id === undefined ? null : ID.test(id.trim()) ? id.trim() : "-",
    from: readDay(since) ?? null,
    until: last ? daysAfter(last, 1) : null,
  };
}

/** The sequence number of the last event before `time`, approximately: the events of a log are only almost in order of time. */
async function placeOf(chain: string, time: Date, length: number): Promise<number> {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const at = await timeAt(chain, middle);
    if (at !== null && at < time) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The events between the two times, and some more, have numbers with `after` < sequence < `before`. */
export async function boundsOf(
  chain: string,
  { from, until }: Query,
  length: number,
): Promise<{ after: number; before: number }> {
  const after = from === null ? 0 : Math.max(0, (await placeOf(chain, from, length)) - SLACK);
  const before = until === null ? length + 1 : Math.min(length + 1, (await placeOf(chain, until, length)) + SLACK + 1);
  return { after, before };
}

function startOf(cursor: string | undefined): number | null {
  const place = decodeCursor(cursor);
  if (place !== null && !/^[1-9][0-9]{0,14}$/.test(place))
    throw invalidField("/query/cursor", "This cursor did not come from this list.");
  return place === null ? null : Number(place);
}

const actors = /^(?:usr|sa)_/;

async function namesOf(organizationId: string, events: readonly ChainedEvent[]): Promise<(event: ChainedEvent) => EventLine> {
  const ids = events.flatMap(({ actorId, subjectId }) => [actorId, subjectId ?? ""]);
  const names = await subjectNames(database(), organizationId, ids);
  return (one) => {
    const { chain: _, organizationId: __, subjectId, createdAt, ...event } = one;
    const actorName = names.get(event.actorId);
    const subjectName = names.get(subjectId ?? "");
    return {
      ...event,
      ...(actorName !== undefined && { actorName }),
      ...(subjectId !== null && { subjectId }),
      ...(subjectName !== undefined && { subjectName }),
      createdAt: toWire(createdAt),
    };
  };
}

/** Newest first. @throws Problem capability_required, invalid_request for an invalid cursor */
export async function viewAudit(caller: MemberCaller, filters: AuditFilters, cursor: string | undefined): Promise<AuditPage> {
  requireAccess(caller);
  const { organizationId: chain } = caller;
  const wanted = auditQueryOf(filters);
  const length = await lengthOf(chain);
  const bounds = await boundsOf(chain, wanted, length);
  const before = Math.min(startOf(cursor) ?? bounds.before, bounds.before);
  const indexed = wanted.id !== null && !actors.test(wanted.id);
  const after = indexed ? bounds.after : Math.max(bounds.after, before - STRETCH);
  const rows = indexed
    ? await searchEntity(chain, wanted.id ?? "", before, ROWS + 1, wanted)
    : await searchStretch({ chain, after, before, rows: ROWS + 1 }, wanted);
  const items = rows.slice(0, ROWS);
  const line = await namesOf(chain, items);
  const next = rows.length > ROWS ? items.at(-1)?.sequence : indexed || after <= bounds.after ? undefined : after + 1;
  return { items: items.map(line), ...(next !== undefined && { nextCursor: encodeCursor(String(next)) }), length };
}

/** Verifies for each view that the event belongs to the root. @throws Problem capability_required, not_found */
export async function viewAuditEvent(caller: MemberCaller, place: string): Promise<EventDetail> {
  requireAccess(caller);
  if (!/^[1-9][0-9]{0,14}$/.test(place)) throw notFound("audit event");
  const sequence = Number(place);
  const { organizationId: chain } = caller;
  const [event] = await readEvents(chain, sequence - 1, sequence, 1);
  const ends = await readEnds(chain);
  if (!event || !ends) throw notFound("audit event");
  const { leafIndex, treeSize, path } = await inclusionOf(event, ends.sequence);
  const line = await namesOf(chain, [event]);
  return {
    event: line(event),
    root: ends.hash,
    fits: rootFromPath(hashEvent(event), leafIndex, treeSize, path) === ends.hash,
    length: ends.sequence,
  };
}
