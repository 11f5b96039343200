import { findApproval, findCheckout, findCheckoutOf } from "#lib/approvals/store.ts";
import type { ApprovalRow, CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { statusAt } from "#lib/approvals/present-checkout.ts";
import { type Asker, type AskerReader } from "#lib/identity/asker.ts";
import { askersOf, subjectNames } from "#lib/identity/subject-name-store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { reading } from "#lib/mandates/store.ts";
import { countedText, displayAmount, formatAmount } from "#lib/money.ts";
import { chainOf } from "#lib/chains/chains.ts";
import { explorerUrl, networkName } from "#lib/chains/network-name.ts";
import { eventsOf, mandateOf, orderOf, repeatsOf, sellerToday } from "#lib/payments/detail-store.ts";
import { executionsOf, findAuthorization, type AuthorizationRow, type ExecutionRow } from "#lib/holds/execution-store.ts";
import { reservationIdOf } from "#lib/holds/ids.ts";
import { holdOf, type Hold } from "#lib/holds/hold-store.ts";
import { recordedWithParts } from "#lib/holds/record-store.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import type { Payment } from "#lib/payments/payment-schema.ts";
import { isOutcomeOpen, presentParts, presentPayment } from "#lib/payments/present-execution.ts";
import { stageOf, type Stage } from "#lib/payments/stage.ts";
import { cardPaymentOf, type CardPayment } from "#lib/pages/buyer/payments/card-payment.ts";
import { allowedOnce, type AllowedOnce } from "#lib/pages/buyer/view-waiver.ts";
import { paymentTimeline, type Attempt, type PaymentFacts, type PaymentStep } from "#lib/pages/buyer/timeline.ts";
import { notFound } from "#lib/problem.ts";
import type { OrderStatus, Outcome, ReservationStatus, SettlementStatus } from "#lib/vocabulary.ts";

export type SamePayment = { readonly authorizationId: string; readonly asker: Asker };

/** Names are untrusted text. */
export type PaymentView = {
  readonly payment: Payment;
  readonly stage: Stage;
  readonly timeline: readonly PaymentStep[];
  readonly asker: Asker;
  readonly mandate: {
    readonly mandateId: string;
    readonly name: string;
    readonly policyVersion: number;
    readonly version: number;
  };
  readonly seller: {
    readonly domain: string | null;
    readonly name: string | null;
    readonly registered: boolean;
    readonly verified: boolean;
  };
  /** Decimal text in the asset. */
  readonly amounts: {
    readonly price: string;
    readonly serviceFee: string;
    readonly providerFee: string;
    readonly networkFee: string;
    readonly buyerShare: string;
    /** The price with the buyer's share of the fee. */
    readonly total: string;
    readonly sellerReceives: string;
    /** With a unit: what the total counts as, and at which rate, such as "0.28 USD" and "1.12 USD". */
    readonly counted: { readonly amount: string; readonly rate: string } | null;
  };
  readonly checkout: { readonly checkoutIntentId: string; readonly waits: boolean } | null;
  /** The earlier payment whose request answers this one too; null if this payment has a request of its own, or none. */
  readonly repeats: SamePayment | null;
  /** The later payments that are answered with this payment's request, oldest first. */
  readonly repeatedBy: readonly SamePayment[];
  /** The page where a person decides or decided, perhaps about an earlier payment with the same question. Null without a link. */
  readonly confirmPath: string | null;
  /** Set if a person allowed this refused payment once, or if this payment was allowed because a person had done so. */
  readonly allowed: AllowedOnce | null;
  readonly order: { readonly orderId: string; readonly status: string; readonly storefrontOrderId: string | null } | null;
  /** The id of the HTTP request in which the payment was decided. */
  readonly requestId: string | null;
  /** Set if the payment is made elsewhere. */
  readonly recorded: ReturnType<typeof presentParts>;
  /** Set if a card paid, or asked to. */
  readonly carded: CardPayment | null;
  readonly transaction: { readonly hash: string; readonly href: string | null; readonly at: string | null } | null;
};

/** Never contains credential headers. @throws Problem not_found for a payment of another organization */
export const viewPayment = (scope: AskerReader, authorizationId: string): Promise<PaymentView> =>
  reading(async (tx, now) => {
    const row = await findAuthorization(tx, scope, authorizationId);
    if (!row) throw notFound("payment");
    const attempts = (await executionsOf(tx, [authorizationId])).toReversed();
    const hold = await holdOf(tx, authorizationId);
    const checkout = await findCheckoutOf(tx, authorizationId);
    const first = checkout || row.checkoutIntentId === null ? null : await findCheckout(tx, scope, row.checkoutIntentId);
    const later = checkout ? await repeatsOf(tx, scope, checkout) : [];
    const approval = checkout && (await findApproval(tx, checkout.checkoutIntentId));
    const order = await orderOf(tx, scope, authorizationId);
    const mandate = await mandateOf(tx, scope, row.mandateId);
    const seller = await sellerToday(tx, row.sellerId);
    const events = await eventsOf(tx, scope, [authorizationId, ...attempts.map(({ executionId }) => executionId)]);
    const people = [approval?.approvedBySubjectId ?? "", approval?.takenBackBySubjectId ?? ""];
    const names = await subjectNames(tx, scope.organizationId, people);
    const others = [...(first ? [first.ownerSubjectId] : []), ...later.map(({ subjectId }) => subjectId)];
    const askerOf = await askersOf(tx, scope, [row.subjectId, ...others]);
    const asker = askerOf(row.subjectId);
    const repeats = first && { asker: askerOf(first.ownerSubjectId), byOther: first.ownerSubjectId !== row.subjectId };
    const payment = presentPayment(row, attempts.toReversed(), "");
    const version = mandate?.version ?? row.policyVersion;
    const allowed = await allowedOnce(tx, { ...scope, ...row }, version, now);
    const facts = factsOf({ row, attempts, hold, checkout, repeats, approval, order, events, allowed, names, asker, now });
    return {
      payment,
      stage: stageOf(
        {
          outcome: facts.outcome,
          hold: facts.hold,
          checkout: facts.asked,
          repeats: facts.repeats,
          attempts: statuses(facts.attempts),
        },
        now,
      ),
      timeline: paymentTimeline(facts, now),
      asker,
      mandate: {
        mandateId: row.mandateId,
        name: mandate?.name ?? row.mandateId,
        policyVersion: row.policyVersion,
        version,
      },
      seller: sellerOf(payment, seller),
      amounts: amountsOf(row, payment.intent),
      checkout: checkout && { checkoutIntentId: checkout.checkoutIntentId, waits: facts.asked?.decided === null },
      repeats: repeats && first?.authorizationId ? { authorizationId: first.authorizationId, asker: repeats.asker } : null,
      repeatedBy: later.map((one) => ({ authorizationId: one.authorizationId, asker: askerOf(one.subjectId) })),
      confirmPath: confirmPathOf(payment),
      allowed,
      order: order && { orderId: order.orderId, status: order.status, storefrontOrderId: order.answer?.orderId ?? null },
      requestId: requestIdOf(events, authorizationId),
      recorded: presentParts(row, await recordedWithParts(tx, authorizationId)),
      carded: await cardPaymentOf(tx, row, hold),
      transaction: transactionOf(row, attempts),
    };
  });

const statuses = (attempts: readonly Attempt[]) => attempts.map(({ status }) => status);

type Event = Awaited<ReturnType<typeof eventsOf>>[number];
type Seller = Awaited<ReturnType<typeof sellerToday>>;

type PaymentRecord = {
  readonly row: AuthorizationRow;
  readonly attempts: readonly ExecutionRow[];
  readonly hold: Hold | null;
  readonly checkout: CheckoutRow | null;
  readonly repeats: PaymentFacts["repeats"];
  readonly approval: ApprovalRow | null;
  readonly order: Awaited<ReturnType<typeof orderOf>>;
  readonly events: readonly Event[];
  readonly allowed: AllowedOnce | null;
  readonly names: ReadonlyMap<string, string>;
  readonly asker: Asker;
  readonly now: Date;
};

function factsOf({
  row,
  attempts,
  hold,
  checkout,
  repeats,
  approval,
  order,
  events,
  allowed,
  names,
  asker,
  now,
}: PaymentRecord): PaymentFacts {
  const { authorizationId, intentId, outcome, createdAt, amount, buyerShare, asset, chain } = row;
  const nameOf = (id: string) => names.get(id) ?? id;
  return {
    authorizationId,
    intentId,
    outcome: outcome as Outcome,
    createdAt,
    amount: displayAmount(amount + buyerShare, decimalsOf(row), asset),
    network: networkName(chain),
    asker,
    byCard: row.intent.card !== undefined,
    hold: hold && { ...hold, reservationId: reservationIdOf(hold), status: hold.status as ReservationStatus },
    asked: checkout && {
      checkoutIntentId: checkout.checkoutIntentId,
      status: statusAt(checkout, now),
      expiresAt: checkout.expiresAt,
      decided: approval && {
        by: nameOf(approval.approvedBySubjectId),
        at: approval.approvedAt,
        yes: approval.status !== "rejected",
        reason: approval.reason,
        takenBack:
          approval.takenBackBySubjectId !== null && approval.resolvedAt
            ? { by: nameOf(approval.takenBackBySubjectId), at: approval.resolvedAt }
            : null,
      },
    },
    repeats,
    attempts: attempts.map((attempt) => attemptOf(attempt, events)),
    allowed: allowed && { by: allowed.by, at: new Date(allowed.at) },
    order: order && { orderId: order.orderId, status: order.status as OrderStatus, at: order.updatedAt },
  };
}

const attemptOf = (row: ExecutionRow, events: readonly Event[]): Attempt => ({
  executionId: row.executionId,
  status: row.settlementStatus as SettlementStatus,
  createdAt: row.createdAt,
  resolvedAt: row.resolvedAt,
  submitted: row.nonce !== null,
  weSettle: row.settlementMode !== "offchainAuthorized",
  transaction: row.settlementReference,
  failureCode: row.failureCode,
  failureDetail: row.failureDetail,
  unknownSince:
    events.find(({ type, entityId }) => type === "payment.unknown" && entityId === row.executionId)?.createdAt ?? null,
  heldUntil: isOutcomeOpen(row) ? row.validBefore : null,
});

function sellerOf({ intent }: Payment, today: Seller): PaymentView["seller"] {
  const { domain = null, name = null, verified = false } = intent.seller;
  if (!today) return { domain, name, registered: false, verified };
  return { domain: domain ?? today.domain, name: name ?? today.name, registered: true, verified: today.verified };
}

function amountsOf(row: AuthorizationRow, { feeQuote }: PaymentIntent): PaymentView["amounts"] {
  const decimals = decimalsOf(row);
  const text = (amount: bigint) => formatAmount(amount, decimals);
  const counted = countedText(row.unitAmount, row.unitRate);
  return {
    price: text(row.amount),
    serviceFee: feeQuote.serviceFeeAmount,
    providerFee: feeQuote.providerFeeAmount,
    networkFee: feeQuote.networkFeeAmount,
    buyerShare: text(row.buyerShare),
    total: text(row.amount + row.buyerShare),
    sellerReceives: feeQuote.sellerNetAmount,
    counted: counted === null || row.unitRate === null ? null : { amount: counted, rate: row.unitRate },
  };
}

/** Ignores the host of the stored link, because the service's host may have changed since then. */
function confirmPathOf({ authorization }: Payment): string | null {
  const href = authorization.policyDecision.reasons.find(({ effect }) => effect === "approval")?.href;
  const path = href !== undefined && URL.canParse(href) ? new URL(href).pathname : "";
  return path.startsWith("/checkout/") ? path : null;
}

function requestIdOf(events: readonly Event[], authorizationId: string): string | null {
  const first = events.find(({ entityId }) => entityId === authorizationId)?.metadata as { requestId?: unknown } | undefined;
  return typeof first?.requestId === "string" ? first.requestId : null;
}

function transactionOf({ chain }: AuthorizationRow, attempts: readonly ExecutionRow[]): PaymentView["transaction"] {
  const attempt = attempts.findLast(({ settlementReference }) => settlementReference !== null);
  if (!attempt?.settlementReference) return null;
  const hash = attempt.settlementReference;
  const at = attempt.settlementStatus === "settled" ? (attempt.resolvedAt?.toISOString() ?? null) : null;
  return { hash, href: explorerUrl(chainOf(chain), `tx/${hash}`), at };
}
