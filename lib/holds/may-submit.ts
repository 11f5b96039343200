import type { Tx } from "#lib/db/client.ts";
import { sellerStateOf, subjectIsLive, type AuthorizationRow, type ExecutionRow } from "#lib/holds/execution-store.ts";
import { lockMandate, type MandateRow } from "#lib/holds/hold-store.ts";
import { forbiddenNow } from "#lib/holds/recheck-payments.ts";
import { compareSigner } from "#lib/x402/verify.ts";

/** True without a check if the mandate has not changed since the authorization or the payer is not known. */
const isSigner = (
  { version, walletAddress }: MandateRow,
  { payer }: ExecutionRow,
  { policyVersion }: AuthorizationRow,
): boolean => version === policyVersion || payer === null || compareSigner(payer, walletAddress).ok;

/** Call this after enterGate, which locks revocations out. This function locks the mandate. */
export async function admitsNow(tx: Tx, execution: ExecutionRow, authorization: AuthorizationRow): Promise<boolean> {
  const mandate = await lockMandate(tx, execution.mandateId);
  return (
    mandate?.status === "active" &&
    isSigner(mandate, execution, authorization) &&
    (await subjectIsLive(tx, execution)) &&
    (await sellerStateOf(tx, authorization)) === "offering" &&
    (await forbiddenNow(tx, mandate, authorization)) === null
  );
}
