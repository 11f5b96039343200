import type { ChainedEvent } from "#lib/audit/chain.ts";
import { lengthOf, searchStretch, type Query } from "#lib/audit/search-store.ts";
import { boundsOf, auditQueryOf, type AuditFilters } from "#lib/pages/settings/view-audit.ts";
import { csvLine } from "#lib/http/csv.ts";
import { requireExporter } from "#lib/pages/require-exporter.ts";
import { toWire } from "#lib/time.ts";

const PAGE = 1_000;
/** This many pages cover a million events, which is about the number of lines that a spreadsheet can open. */
const PAGES_MAX = 1_000;
const NOT_COMPLETE =
  "This file is not complete: the export reached its limit. Choose a later first day in the filter and export the newer events.";

/** Has everything that the hash covers, so the root of the log can be computed from a file of all events. */
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
  ndjson: { first: "", line: jsonLine, last: `${JSON.stringify({ notComplete: NOT_COMPLETE })}\n` },
  csv: { first: csvLine(head), line: (event: ChainedEvent) => csvLine(cells(event)), last: csvLine([NOT_COMPLETE]) },
} as const;

/** @throws Problem unauthenticated, capability_required, also between two pages, so that the download fails visibly */
export async function exportAudit(
  cookie: string | null,
  filters: AuditFilters,
  format: keyof typeof formats,
  pagesMax = PAGES_MAX,
): Promise<AsyncGenerator<string>> {
  const { organizationId } = await requireExporter(cookie, "audit:read");
  const wanted = auditQueryOf(filters);
  const bounds = await boundsOf(organizationId, wanted, await lengthOf(organizationId));
  return lines(cookie, { organizationId, ...bounds, pagesMax }, wanted, formats[format]);
}

type Range = { readonly organizationId: string; readonly after: number; readonly before: number; readonly pagesMax: number };

/** A page without matching events yields an empty text, so that a reader can stop during a long search. */
async function* lines(
  cookie: string | null,
  { organizationId, after, before, pagesMax }: Range,
  wanted: Query,
  { first, line, last }: (typeof formats)[keyof typeof formats],
): AsyncGenerator<string> {
  if (first !== "") yield first;
  const end = Math.min(before, after + pagesMax * PAGE + 1);
  for (let start = after; start < end - 1; start += PAGE) {
    await requireExporter(cookie, "audit:read", { organizationId });
    const part = { chain: organizationId, after: start, before: Math.min(end, start + PAGE + 1), rows: PAGE };
    const events = await searchStretch(part, wanted);
    yield events.toReversed().map(line).join("");
  }
  if (end < before) yield last;
}
