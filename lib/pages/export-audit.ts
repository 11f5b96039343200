import type { ChainedEvent } from "#lib/audit/chain.ts";
import { listAuditEvents } from "#lib/audit/contract.ts";
import { lengthOf, searchStretch, type Query } from "#lib/audit/search-store.ts";
import { boundsOf, wantedOf, type AuditFilters } from "#lib/pages/view-audit.ts";
import { compileAccess } from "#lib/http/access.ts";
import { csvLine } from "#lib/http/csv.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { toWire } from "#lib/time.ts";

const AT_ONCE = 1_000;

type Member = SessionCaller & { readonly organizationId: string };

const requireAccess = compileAccess(listAuditEvents.access);

/** Includes the sequence number, so that every hash can be recomputed from the file. */
function jsonLine({ createdAt, organizationId, subjectId, ...event }: ChainedEvent): string {
  const line = {
    ...event,
    ...(organizationId !== null && { organizationId }),
    ...(subjectId !== null && { subjectId }),
    createdAt: toWire(createdAt),
  };
  return `${JSON.stringify(line)}\n`;
}

const cells = (event: ChainedEvent): string[] => [
  String(event.sequence),
  toWire(event.createdAt),
  event.type,
  event.actorId,
  event.subjectId ?? "",
  event.entityType,
  event.entityId,
  JSON.stringify(event.metadata),
  event.auditEventId,
  event.hash,
];

const head = [
  "sequence",
  "createdAt",
  "type",
  "actorId",
  "subjectId",
  "entityType",
  "entityId",
  "metadata",
  "auditEventId",
  "hash",
];

const formats = {
  ndjson: { first: "", line: jsonLine },
  csv: { first: csvLine(head), line: (event: ChainedEvent) => csvLine(cells(event)) },
} as const;

/**
 * The organization's events with the page's filters, oldest first, as a stream.
 * @throws Problem capability_required
 */
export async function exportAudit(
  caller: Member,
  filters: AuditFilters,
  format: keyof typeof formats,
): Promise<AsyncGenerator<string>> {
  requireAccess(caller);
  const { organizationId: chain } = caller;
  const wanted = wantedOf(filters);
  const { after, before } = await boundsOf(chain, wanted, await lengthOf(chain));
  return lines(chain, wanted, { after, before }, formats[format]);
}

async function* lines(
  chain: string,
  wanted: Query,
  { after, before }: { readonly after: number; readonly before: number },
  { first, line }: (typeof formats)[keyof typeof formats],
): AsyncGenerator<string> {
  if (first !== "") yield first;
  for (let start = after; start < before - 1; start += AT_ONCE) {
    const part = { chain, after: start, before: Math.min(before, start + AT_ONCE + 1), rows: AT_ONCE };
    const events = await searchStretch(part, wanted);
    if (events.length > 0) yield events.toReversed().map(line).join("");
  }
}
