import { insertAllowance, passageFacts, type Passage } from "#lib/approvals/decision/allowance-store.ts";
import { stepUpReasons } from "#lib/approvals/decision/approval.ts";
import type { StepUpReason } from "#lib/approvals/checkout-view.ts";
import { isAboveAll, isAboveUnverified, type Risk } from "#lib/approvals/decision/risk-store.ts";
import { clock } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { actOf } from "#lib/identity/passkeys/act-proof.ts";
import { takeActProof } from "#lib/identity/passkeys/act-proof-store.ts";
import { requireProvedToGive, stepUpFor, type Prover } from "#lib/identity/passkeys/fresh-proof.ts";
import { newId } from "#lib/ids.ts";
import { displayAmount } from "#lib/money.ts";
import type { Environment } from "#lib/vocabulary.ts";

type Opened = Passage & {
  readonly environment: Environment;
  /** Whether only verified payees can be paid with it. */
  readonly verified: boolean;
  /** Everything that the person allows; the proof is for exactly this. */
  readonly terms: unknown;
};

/**
 * Every act of a person that lets money through, except an approval, calls this before it changes anything: it asks for the
 * same step-up as approving the same amount, and its amount counts in the same sum of 24 hours. A mandate (no seller) may be
 * given by a session that proved who it is, where an approval asks for a new session. @throws Problem step_up_required
 */
export async function letThrough(tx: Tx, by: Prover, { environment, verified, terms, ...passage }: Opened): Promise<void> {
  const { subjectId, sellerId, organizationId, asset, chain, amount } = passage;
  if (amount === 0n) return requireProvedToGive(tx, by);
  const facts = await passageFacts(tx, by, passage);
  const now = await clock(tx);
  const risk = { ...facts.risk, payeeVerified: verified };
  const given = sellerId === null ? facts.provedAt : facts.sessionCreatedAt;
  const reasons = stepUpReasons(
    {
      sessionCreatedAt: given ?? new Date(0),
      sellerPaidBefore: sellerId === null || facts.sellerPaidBefore,
      aboveThreshold: isAboveAll(risk, amount),
      aboveUnverified: isAboveUnverified(risk, amount),
    },
    now,
  );
  const act = actOf(subjectId, { subjectId, terms });
  if (reasons.length > 0 && !(await takeActProof(tx, by, act))) {
    // A session that is only too old may also prove itself for all acts of the next minutes.
    if (sellerId === null && reasons.every((reason) => reason === "sessionAge")) await requireProvedToGive(tx, by);
    throw await stepUpFor(tx, by, `Confirm that it is you first: ${because(reasons[0], passage, risk)}.`, act);
  }
  await insertAllowance(tx, {
    allowanceId: newId("allowance"),
    organizationId,
    environment,
    userId: by.userId,
    subjectId,
    asset,
    chain,
    amount,
    verified,
    createdAt: now,
  });
}

function because(reason: StepUpReason | undefined, { amount, decimals, asset }: Passage, risk: Risk): string {
  const shown = (value: bigint) => displayAmount(value, decimals, asset);
  const [most, lately] = reason === "amount" ? [risk.most, risk.lately] : [risk.mostUnverified, risk.latelyUnverified];
  const before = lately > 0n ? ` with the ${shown(lately)} that you allowed in 24 hours` : "";
  switch (reason) {
    case "amount":
      return `this lets ${shown(amount)} through, which is above ${shown(most)}${before}`;
    case "unverifiedPayee":
      return `this lets ${shown(amount)} through to payees that may be unverified, which is above ${shown(most)}${before}`;
    case "firstPayment":
      return "this is the first payment to this seller";
    case "sessionAge":
    case undefined:
      return "you signed in more than 15 minutes ago";
  }
}
