import type { Tx } from "#lib/db/client.ts";
import { mandateStatus } from "#lib/onchain/registry/revocation-store.ts";
import type { RelayRow } from "#lib/onchain/relay-store.ts";
import { authorizationOf, reloadExecution } from "#lib/holds/execution-store.ts";
import { admitsNow } from "#lib/holds/recheck-payments.ts";

/** The caller must call `enterGate` before and sign in the same transaction, so that no revocation takes effect in between. */
export async function refusalNow(tx: Tx, { purpose, mandateId, entityId }: RelayRow): Promise<string | null> {
  if (purpose === "revokeMandate") return null;
  if (purpose === "registerMandate") {
    return (await mandateStatus(tx, mandateId)) === "revoked"
      ? "The mandate was revoked before its registration was sent."
      : null;
  }
  const execution = await reloadExecution(tx, entityId);
  if (execution.resolvedAt !== null) return "The payment had ended before it was sent.";
  const admitted = await admitsNow(tx, execution, await authorizationOf(tx, execution));
  return admitted ? null : "The mandate, the agent or the seller was stopped before the payment was sent.";
}
