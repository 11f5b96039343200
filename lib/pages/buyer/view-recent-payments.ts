import { executionsOf, listAuthorizations } from "#lib/holds/execution-store.ts";
import { reading, type Scope } from "#lib/mandates/store.ts";
import { readStages } from "#lib/pages/buyer/payments/stages.ts";
import type { Payment } from "#lib/payments/payment-schema.ts";
import { presentPayment } from "#lib/payments/present-execution.ts";
import type { Stage } from "#lib/payments/stage.ts";

/** Without the headers with signed payments, which only the subject that executed the payment may see. */
export const viewRecentPayments = (owner: Scope, limit: number): Promise<readonly (Payment & { readonly stage: Stage })[]> =>
  reading(async (tx, now) => {
    const rows = await listAuthorizations(tx, owner, {}, null, limit);
    const ids = rows.map((row) => row.authorizationId);
    const [all, stageAt] = [await executionsOf(tx, ids), await readStages(tx, rows, now)];
    const ofRow = Map.groupBy(all, (row) => row.authorizationId);
    return rows.map((row) => ({
      ...presentPayment(row, ofRow.get(row.authorizationId) ?? [], ""),
      stage: stageAt(row).stage,
    }));
  });
