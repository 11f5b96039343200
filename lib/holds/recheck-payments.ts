import type { Tx } from "#lib/db/client.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { MandateFacts, Reason } from "#lib/mandates/policy/facts.ts";
import { forbiddenBy } from "#lib/mandates/policy/recheck-policy.ts";
import { configuredDecimals, tokenOf } from "#lib/chains/chains.ts";
import { clock } from "#lib/audit/transact.ts";
import { sellerStateOf, subjectIsLive, type AuthorizationRow, type ExecutionRow } from "#lib/holds/execution-store.ts";
import { lockMandate, type MandateRow } from "#lib/holds/hold-store.ts";
import { policyOfVersion, verifiedAmong } from "#lib/holds/open-payment-store.ts";
import { pastFacts, wantedOf, type PastPayment } from "#lib/holds/past-facts.ts";
import { seenBefore } from "#lib/sellers/seen-offer-store.ts";
import { compareSigner } from "#lib/x402/verify.ts";

/** Null for each payment that no rule but a limit forbids. Call lockMandate first, so that the policy cannot change. */
export async function forbiddenAmong(
  tx: Tx,
  mandate: MandateFacts,
  payments: readonly PastPayment[],
): Promise<readonly (Reason | null)[]> {
  if (payments.length === 0) return [];
  const now = await clock(tx);
  const verified = await verifiedAmong(
    tx,
    payments.flatMap(({ sellerId }) => sellerId ?? []),
  );
  const byDomain = (mandate.policy.domains?.allow ?? null) !== null;
  const seen = byDomain
    ? await seenBefore(
        tx,
        payments.map((one) => wantedOf(one, tokenOf)),
      )
    : [];
  return payments.map((one, at) => {
    const is = { verified: verified.has(one.sellerId ?? ""), domainSeen: seen[at] ?? false, paidBefore: true };
    return forbiddenBy(mandate, pastFacts(one, is, configuredDecimals), now);
  });
}

type Mandate = Pick<MandateRow, "mandateId" | "version" | "agents" | "asset" | "chain">;

/** Null if the mandate still allows the payment. Limits are not checked: the amount is reserved. Call lockMandate first. */
export async function forbiddenNow(tx: Tx, mandate: Mandate, authorization: AuthorizationRow): Promise<Reason | null> {
  const { mandateId, version, agents } = mandate;
  if (version === authorization.policyVersion) return null;
  const policy = compilePolicy(await policyOfVersion(tx, mandateId, version), decimalsOf(mandate));
  const [reason = null] = await forbiddenAmong(tx, { mandateId, version, status: "active", policy, agents }, [authorization]);
  return reason;
}

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
