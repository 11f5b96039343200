import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import type * as contract from "#lib/payments/contract.ts";
import { executionsOf, listAuthorizations } from "#lib/holds/execution-store.ts";
import { presentPayment } from "#lib/payments/present-execution.ts";
import { idsOfKey } from "#lib/payments/search-store.ts";

export const listPayments: Handler<typeof contract.listPayments> = async ({ query }, { caller }) => {
  const { limit, cursor, idempotencyKey: key, mandateId, outcome, settlementStatus } = query;
  const authorizationIds = key === undefined ? undefined : await idsOfKey(database(), caller, key);
  const filter = { mandateId, outcome, settlementStatus, authorizationIds };
  const rows = await listAuthorizations(database(), caller, filter, decodeCursor(cursor), limit + 1);
  const { items, ...rest } = page(rows, limit, (row) => row.authorizationId);
  const attempts = await executionsOf(
    database(),
    items.map((row) => row.authorizationId),
  );
  const ofRow = Map.groupBy(attempts, (row) => row.authorizationId);
  return { items: items.map((row) => presentPayment(row, ofRow.get(row.authorizationId) ?? [], caller.subjectId)), ...rest };
};
