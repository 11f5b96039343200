import type { Tx } from "#lib/db/client.ts";
import { sellerStateOf, subjectIsLive, type AuthorizationRow, type ExecutionRow } from "#lib/payments/execution-store.ts";
import { lockMandate } from "#lib/payments/hold-store.ts";

/** After the gate: whether mandate, agent and seller still let a payment be submitted. */
export async function admitsNow(tx: Tx, execution: ExecutionRow, authorization: AuthorizationRow): Promise<boolean> {
  const mandate = await lockMandate(tx, execution.mandateId);
  return (
    mandate?.status === "active" &&
    (await subjectIsLive(tx, execution)) &&
    (await sellerStateOf(tx, authorization)) === "offering"
  );
}
