import type { ApprovalRequest } from "#lib/mandates/policy/facts.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { formatAmount, UNIT_DECIMALS } from "#lib/money.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import {
  RecordedStatus,
  RecordOutcome,
  RecordQuestion,
  type Payment,
  type PaymentExecution,
  type PaymentRecord,
  type RecordedPayment,
} from "#lib/payments/payment-schema.ts";
import type { AuthorizationRow, ExecutionRow } from "#lib/holds/execution-store.ts";
import { partsOf, type Hold } from "#lib/holds/hold-store.ts";
import type { RecordedRow, RecordRow } from "#lib/holds/record-store.ts";
import type { Authorization, PaymentIntent } from "#lib/payment-intent.ts";
import { answerOf, reasonsOf } from "#lib/holds/render-answer.ts";
import { Problem, problems, type NextAction, type PaymentFacts, type ProblemDetails } from "#lib/problem.ts";
import { paymentRequiredHeaders, type ExpectedPayment } from "#lib/x402/requirements.ts";
import { failureCodes, type FailureCode } from "#lib/x402/failure.ts";
import { toWire } from "#lib/time.ts";
import type { SettlementMode, SettlementStatus } from "#lib/vocabulary.ts";

/** Only the subject that executed the payment sees the headers, because they can contain the signed payment. */
export function presentExecution(row: ExecutionRow, intent: PaymentIntent, forSubjectId: string): PaymentExecution {
  const failureCode = failureCodes.find((code) => code === row.failureCode);
  return {
    executionId: row.executionId,
    intentId: intent.intentId,
    authorizationId: row.authorizationId,
    enforcementPath: intent.enforcementPath,
    paymentProtocol: "x402",
    paymentChallengeType: "x402",
    settlementMode: row.settlementMode as SettlementMode,
    feeQuote: intent.feeQuote,
    settlementStatus: row.settlementStatus as SettlementStatus,
    ...(row.credentialHash !== null && { paymentCredentialHash: row.credentialHash }),
    ...(row.credentialHeaders && row.subjectId === forSubjectId && { credentialHeaders: row.credentialHeaders }),
    ...(row.settlementReference !== null && { settlementReference: row.settlementReference }),
    ...presentFailure(row, failureCode),
    ...(row.validBefore !== null && isOutcomeOpen(row) && { heldUntil: row.validBefore.toISOString() }),
    createdAt: row.createdAt.toISOString(),
  };
}

/** Whether the outcome is not known yet, so that the amount is reserved. */
export const isOutcomeOpen = ({ settlementStatus }: Pick<ExecutionRow, "settlementStatus">): boolean =>
  settlementStatus !== "settled" && settlementStatus !== "failed";

function presentFailure(row: ExecutionRow, code: FailureCode | undefined) {
  const metadata = row.failureMetadata as Record<string, unknown> | null;
  if (row.settlementStatus === "unknown") {
    return {
      failureCode: "settlement_unknown",
      failureCategory: "settlement_unknown" as const,
      failureActor: "provider" as const,
      failureDetail: row.failureDetail ?? "The credential was submitted and its outcome is not known yet.",
      ...(metadata && { failureMetadata: metadata }),
    };
  }
  if (row.settlementStatus !== "failed" || !code) return {};
  const { category, actor } = problems[code];
  return {
    failureCode: code,
    failureCategory: category,
    failureActor: actor,
    failureDetail: row.failureDetail ?? "",
    ...(metadata && { failureMetadata: metadata }),
  };
}

export const presentAuthorization = (row: AuthorizationRow): Authorization => JSON.parse(answerOf(row)) as Authorization;

/** Empty if nobody is asked. */
export const approvalRequestOf = (row: AuthorizationRow): ApprovalRequest =>
  reasonsOf(row).find((reason) => reason.effect === "approval") ?? {};

/** Give `balance` only if it is too low: then the facts name the balance and the missing amount too. */
export function presentPaymentFacts({ asset, amount, payTo }: ExpectedPayment, payer?: string, balance?: bigint): PaymentFacts {
  const { tokenDecimals } = asset;
  return {
    chain: asset.chain,
    asset: asset.asset,
    tokenAddress: asset.tokenAddress,
    tokenDecimals,
    amount: formatAmount(amount, tokenDecimals),
    amountAtomic: amount.toString(),
    ...(balance !== undefined && {
      requiredAmount: formatAmount(amount - balance, tokenDecimals),
      requiredAmountAtomic: (amount - balance).toString(),
      balance: formatAmount(balance, tokenDecimals),
      balanceAtomic: balance.toString(),
    }),
    ...(payer !== undefined && { payer }),
    payTo,
  };
}

const fundWallet = (asset: AssetOnChain, address: string, missing: bigint): NextAction => ({
  type: "fund_wallet",
  label: `Send ${asset.asset} to the paying wallet`,
  address,
  chain: asset.chain,
  asset: asset.asset,
  amount: formatAmount(missing, asset.tokenDecimals),
});

/** Contains the headers of a 402, from which a standard x402 client can sign. */
const signCredential = (payment: ExpectedPayment, url: string, description: string): NextAction => ({
  type: "sign_credential",
  label: "Sign a new payment credential",
  description,
  chain: payment.asset.chain,
  asset: payment.asset.asset,
  amount: formatAmount(payment.amount, payment.asset.tokenDecimals),
  metadata: { paymentRequired: paymentRequiredHeaders(payment, url) },
});

/** A path template keeps its {parameters}. */
export const urlOf = ({ seller, resource }: PaymentIntent): string =>
  `https://${seller.domain ?? "unknown.invalid"}${resource?.pathTemplate ?? "/"}`;

/** A retry with the idempotency key of a failed execution always returns that failure, so another try needs a new key. */
const anotherAttempt =
  "Execute the same authorization with it, under a new idempotencyKey. Its budget is held once, however many attempts fail before anything is sent.";

type FailedExecution = {
  readonly row: ExecutionRow;
  readonly intent: PaymentIntent;
  readonly payment: ExpectedPayment | null;
};

export function failureDetails({ row, intent, payment }: FailedExecution): ProblemDetails {
  const balance = (row.failureMetadata as { balanceAtomic?: string } | null)?.balanceAtomic;
  const poor = row.failureCode === "insufficient_funds" && payment && row.payer !== null && balance !== undefined;
  // An execution with a nonce has released its hold by failing, so its authorization cannot be executed again.
  const again = row.nonce === null && row.failureCode !== null && problems[row.failureCode as FailureCode].retryable;
  return {
    detail: row.failureDetail ?? "The payment failed.",
    instance: `/api/v1/payments/executions/${row.executionId}`,
    ...(payment && { payment: presentPaymentFacts(payment, row.payer ?? undefined, poor ? BigInt(balance) : undefined) }),
    nextActions: [
      ...(poor ? [fundWallet(payment.asset, row.payer ?? "", payment.amount - BigInt(balance))] : []),
      ...(payment && again ? [signCredential(payment, urlOf(intent), anotherAttempt)] : []),
    ],
  };
}

/** Nothing is stored, so a retry with the same idempotency key may contain a credential. */
export const credentialMissing = (payment: ExpectedPayment, intent: PaymentIntent): Problem =>
  new Problem("credential_missing", {
    detail: "This payment needs a signed payment credential. Sign one and repeat the request with it.",
    payment: presentPaymentFacts(payment),
    nextActions: [signCredential(payment, urlOf(intent), "Repeat this request with it, under the same idempotencyKey.")],
  });

export const presentPayment = (row: AuthorizationRow, attempts: readonly ExecutionRow[], forSubjectId: string): Payment => ({
  intent: row.intent,
  authorization: presentAuthorization(row),
  executions: attempts.map((attempt) => presentExecution(attempt, row.intent, forSubjectId)),
});

type InUnit = Pick<AuthorizationRow, "asset" | "chain" | "unitRate">;

/** The unit stands after the rate, as in "1.12 USD". */
const unitOf = ({ unitRate }: InUnit): string => unitRate?.split(" ")[1] ?? "";

export function presentRecorded(payment: InUnit, row: RecordedRow, hold: Hold): RecordedPayment {
  const parts = partsOf(hold);
  const unit = (amount: bigint) => formatAmount(amount, UNIT_DECIMALS);
  const native = (amount: bigint) => formatAmount(amount, decimalsOf(payment));
  return {
    status: RecordedStatus.parse(row.status),
    asset: payment.asset,
    paid: native(row.paid),
    refunded: native(row.refunded),
    unit: unitOf(payment),
    held: unit(parts.held),
    captured: unit(parts.captured),
    released: unit(parts.released),
    open: unit(parts.open),
    deadline: toWire(row.deadline),
    ...(row.asks !== null && { asks: RecordQuestion.parse(row.asks) }),
    ...(row.closedAt && { closedAt: toWire(row.closedAt) }),
    ...(row.closedBy !== null && { closedBy: row.closedBy }),
  };
}

export const presentRecord = (payment: InUnit, row: RecordRow): PaymentRecord => ({
  recordId: row.recordId,
  outcome: RecordOutcome.parse(row.outcome),
  amount: formatAmount(row.amount, decimalsOf(payment)),
  asset: payment.asset,
  booked: formatAmount(row.booked, UNIT_DECIMALS),
  unit: unitOf(payment),
  ...(row.paidAt && { paidAt: toWire(row.paidAt) }),
  ...(row.reference !== null && { reference: row.reference }),
  ...(row.evidenceHash !== null && {
    evidence: { sha256: row.evidenceHash, ...(row.evidenceUrl !== null && { url: row.evidenceUrl }) },
  }),
  recordedBy: row.recordedBy,
  byAgent: row.byAgent,
  createdAt: toWire(row.createdAt),
});

type Parts = { readonly recorded: RecordedRow; readonly hold: Hold; readonly records: readonly RecordRow[] };

/** Of a payment that is made elsewhere: what was recorded of it, and its parts. */
export const presentParts = (payment: InUnit, parts: Parts | null) =>
  parts && {
    recorded: presentRecorded(payment, parts.recorded, parts.hold),
    records: parts.records.map((record) => presentRecord(payment, record)),
  };
