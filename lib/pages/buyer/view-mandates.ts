import { decodeCursor, page, type Page } from "#lib/http/paging.ts";
import type { Tx } from "#lib/db/client.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { filterMandates, liveMandates, type MandateFilter } from "#lib/pages/buyer/mandates/page-store.ts";
import { presentMandate, type MandateRow } from "#lib/mandates/present-mandate.ts";
import { liveBuckets, reading, type Scope } from "#lib/mandates/store.ts";

async function present(tx: Tx, rows: readonly MandateRow[], now: Date): Promise<Mandate[]> {
  const ids = rows.map((row) => row.mandateId);
  const ofMandate = Map.groupBy(await liveBuckets(tx, ids, now), (bucket) => bucket.mandateId);
  return rows.map((row) => presentMandate(row, ofMandate.get(row.mandateId) ?? [], decimalsOf(row), now));
}

type Query = MandateFilter & { readonly cursor?: string | undefined; readonly limit: number };

/** Newest first. @throws Problem invalid_request for an invalid cursor */
export const viewMandates = (scope: Scope, { cursor, limit, ...filter }: Query): Promise<Page<Mandate>> =>
  reading(async (tx, now) => {
    const rows = await filterMandates(tx, scope, filter, { now, limit: limit + 1, place: decodeCursor(cursor) });
    const { items, ...rest } = page(rows, limit, (row) => row.mandateId);
    return { items: await present(tx, items, now), ...rest };
  });

export const viewLiveMandates = (scope: Scope, limit: number): Promise<readonly Mandate[]> =>
  reading(async (tx, now) => present(tx, await liveMandates(tx, scope, limit), now));
