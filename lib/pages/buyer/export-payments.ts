import { audit, clock, transact } from "#lib/audit/transact.ts";
import { csvLine } from "#lib/http/csv.ts";
import { filterNames, readPaymentFilter, type PaymentFilter } from "#lib/payments/payment-filter.ts";
import { requireExporter } from "#lib/pages/require-exporter.ts";
import { viewPayments, type PaymentLine, type PaymentPage } from "#lib/pages/buyer/view-payments.ts";
import type { Scope } from "#lib/mandates/store.ts";
import { dayOf } from "#lib/time.ts";

const PAGE = 500;
/** These pages have at most a million lines, about what a spreadsheet can open, and search at most ten million payments. */
const PAGES_MAX = 2_000;
const NOT_COMPLETE =
  "This file is not complete: the export reached its limit. Choose an earlier last day in the filter and export the older payments.";

type Field = readonly [name: string, value: (line: PaymentLine) => string | number | null];

/** Times are in UTC, amounts are decimal text in the asset. */
const fields: readonly Field[] = [
  ["createdAt", (line) => line.createdAt],
  ["authorizationId", (line) => line.authorizationId],
  ["outcome", (line) => line.outcome],
  ["denialCode", (line) => line.denialCode],
  ["state", (line) => line.stage.status],
  ["settlementStatus", (line) => line.execution?.settlementStatus ?? null],
  ["amount", (line) => line.amount],
  ["amountWithFee", (line) => line.total],
  ["asset", (line) => line.asset],
  ["chain", (line) => line.chain],
  ["payTo", (line) => line.payTo],
  ["sellerId", (line) => line.seller.sellerId ?? null],
  ["sellerName", (line) => line.seller.name ?? null],
  ["domain", (line) => line.seller.domain ?? null],
  ["resourceId", (line) => line.resource?.resourceId ?? null],
  ["mandateId", (line) => line.mandateId],
  ["mandateName", (line) => line.mandate],
  ["policyVersion", (line) => line.policyVersion],
  ["agentId", (line) => line.asker.subjectId],
  ["agentName", (line) => line.asker.name],
  ["intentId", (line) => line.intentId],
  ["idempotencyKey", (line) => line.idempotencyKey],
  ["executionId", (line) => line.execution?.executionId ?? null],
  ["transaction", (line) => line.execution?.transaction ?? null],
  ["resolvedAt", (line) => line.execution?.resolvedAt ?? null],
];

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Each page is its own transaction, so a slow download keeps none open; a page without matches yields an empty text.
 * @throws Problem unauthenticated, capability_required, also between two pages, so that the download fails visibly
 */
export async function* paymentsCsv(
  cookie: string | null,
  scope: Scope,
  filter: PaymentFilter,
  pagesMax = PAGES_MAX,
): AsyncGenerator<string> {
  yield csvLine(fields.map(([name]) => name));
  let cursor: string | undefined;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    await requireExporter(cookie, "payments:read", scope);
    const page: PaymentPage = await viewPayments(scope, filter, { cursor, limit: PAGE });
    yield page.items.map((line) => csvLine(fields.map(([, value]) => value(line)))).join("");
    cursor = page.nextCursor;
    if (cursor === undefined) return;
  }
  yield csvLine([NOT_COMPLETE]);
}

/** @throws Problem unauthenticated, capability_required */
export async function exportPayments(cookie: string | null, query: Query) {
  const exporter = await requireExporter(cookie, "payments:read");
  const now = await recordExport(exporter, query);
  return { name: csvName(now), lines: paymentsCsv(cookie, exporter, readPaymentFilter(query)) };
}

export const csvName = (now: Date): string => `payments-${dayOf(now)}.csv`;

export const recordExport = (
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  query: Query,
): Promise<Date> =>
  transact(async (tx) => {
    const now = await clock(tx);
    const narrowed = filterNames.flatMap((name) => (typeof query[name] === "string" ? [[name, query[name].slice(0, 200)]] : []));
    const event = {
      type: "payment.exported",
      actorId: userId,
      organizationId,
      subjectId: userId,
      entityType: "organization",
      entityId: organizationId,
      metadata: { filter: Object.fromEntries(narrowed) as Record<string, string> },
    };
    audit(tx, event, now);
    return now;
  });
