import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import type { listMandates as operation } from "#lib/mandates/contract.ts";
import { presentMandate } from "#lib/mandates/present-mandate.ts";
import { liveBuckets, reading, selectMandates } from "#lib/mandates/store.ts";

export const listMandates: Handler<typeof operation> = ({ query: { limit, cursor } }, { caller }) =>
  reading(async (tx, now) => {
    const { items, ...rest } = page(
      await selectMandates(tx, caller, limit + 1, decodeCursor(cursor)),
      limit,
      (row) => row.mandateId,
    );
    const buckets = await liveBuckets(
      tx,
      items.map((row) => row.mandateId),
      now,
    );
    const ofMandate = Map.groupBy(buckets, (bucket) => bucket.mandateId);
    return { items: items.map((row) => presentMandate(row, ofMandate.get(row.mandateId) ?? [], decimalsOf(row), now)), ...rest };
  });
