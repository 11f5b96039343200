import { database } from "#lib/db/client.ts";
import { slotOf } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import type * as contract from "#lib/payments/contract.ts";
import { executionsOf, listAuthorizations } from "#lib/holds/execution-store.ts";
import { presentPayment } from "#lib/payments/present-execution.ts";

export const listPayments: Handler<typeof contract.listPayments> = async ({ query }, { caller }) => {
  const { limit, cursor, idempotencyKey: key, mandateId, outcome, settlementStatus } = query;
  const { organizationId, environment, subjectId } = caller;
  const slot = (operationId: string) =>
    key === undefined ? undefined : slotOf({ organizationId, environment, operationId, key });
  const filter = {
    mandateId,
    outcome,
    settlementStatus,
    authorizeSlot: slot("authorizePayment"),
    executeSlot: slot("executePayment"),
  };
  const rows = await listAuthorizations(database(), caller, filter, decodeCursor(cursor), limit + 1);
  const { items, ...rest } = page(rows, limit, (row) => row.authorizationId);
  const attempts = await executionsOf(
    database(),
    items.map((row) => row.authorizationId),
  );
  const ofRow = Map.groupBy(attempts, (row) => row.authorizationId);
  return { items: items.map((row) => presentPayment(row, ofRow.get(row.authorizationId) ?? [], subjectId)), ...rest };
};
