import { database } from "#lib/db/client.ts";
import type { Scope } from "#lib/db/scope.ts";
import type { Payment } from "#lib/payments/payment-schema.ts";
import { executionsOf, listAuthorizations } from "#lib/holds/execution-store.ts";
import { presentPayment } from "#lib/payments/present-execution.ts";

/** Without the headers with signed payments, which only the subject that executed the payment may see. */
export async function viewRecentPayments(owner: Scope, limit: number): Promise<readonly Payment[]> {
  const rows = await listAuthorizations(database(), owner, {}, null, limit);
  const ids = rows.map((row) => row.authorizationId);
  const ofRow = Map.groupBy(await executionsOf(database(), ids), (row) => row.authorizationId);
  return rows.map((row) => presentPayment(row, ofRow.get(row.authorizationId) ?? [], ""));
}
