import { clock, transact } from "#lib/audit/transact.ts";
import { latestEnd, stepUpReasons } from "#lib/approvals/decision/approval.ts";
import { lineAmount, basketAmount } from "#lib/approvals/basket.ts";
import { findCandidates } from "#lib/approvals/candidate-store.ts";
import { buyerShareOf, chargedFor, type ApprovalRow, type CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import type { CheckoutView, LineView } from "#lib/approvals/checkout-view.ts";
import { mandateChoices } from "#lib/commerce/mandate-choices.ts";
import type { LockedCheckout } from "#lib/approvals/decision/locked-checkout.ts";
import { presentApproval, presentCheckout, statusAt } from "#lib/approvals/present-checkout.ts";
import { isOpen } from "#lib/approvals/checkout-state.ts";
import { purposeOf, titleOf } from "#lib/approvals/purpose.ts";
import {
  endsOf,
  findApproval,
  findAsker,
  findCheckout,
  lockCheckout,
  saveReview,
  setCheckoutStatus,
} from "#lib/approvals/store.ts";
import { roomOf } from "#lib/approvals/decision/risk-store.ts";
import { assuranceAskedBySeller, stepUpFacts } from "#lib/approvals/decision/step-up-store.ts";
import { database } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { passkeysOf } from "#lib/identity/passkeys/store.ts";
import { passwordHashOf } from "#lib/identity/user-store.ts";
import { findMember } from "#lib/identity/member-store.ts";
import { askersOf, subjectNames } from "#lib/identity/subject-name-store.ts";
import { askRules, type AskRule } from "#lib/mandates/policy/ask-rules.ts";
import { highestAsked } from "#lib/mandates/policy/assurance.ts";
import { displayAmount, formatAmount, parseAmount } from "#lib/money.ts";
import { assetOf, chainOf } from "#lib/chains/chains.ts";
import { explorerUrl } from "#lib/chains/network-name.ts";
import { findingsOf } from "#lib/pages/buyer/approvals/payee-store.ts";
import { elsewhereOf } from "#lib/pages/buyer/approvals/elsewhere.ts";
import { viewPayee } from "#lib/pages/buyer/approvals/view-payee.ts";
import { repeatsOf } from "#lib/payments/detail-store.ts";
import { notFound, Problem } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";
import type { FeePayer } from "#lib/vocabulary.ts";

/**
 * Also records what this session was shown if the caller can still decide, because an approval confirms exactly that.
 * @throws Problem not_found, capability_required
 */
export async function viewCheckout(
  { checkoutIntentId }: { readonly checkoutIntentId: string },
  caller: SessionCaller,
): Promise<CheckoutView> {
  const { organizationId, environment } = caller;
  const known =
    organizationId === null ? null : await findCheckout(database(), { organizationId, environment }, checkoutIntentId);
  if (!known || organizationId === null) throw notFound("checkout");
  const mayDecide = caller.capabilities.has("checkouts:approve");
  if (!mayDecide && !caller.capabilities.has("checkouts:read")) {
    throw new Problem("capability_required", { detail: "This needs the capability checkouts:read in this organization." });
  }
  const { checkout, before, now } = await review(known, caller, mayDecide);
  const approval = await findApproval(database(), checkoutIntentId);
  const open = isOpen(statusAt(checkout, now));
  const stands = approval?.status === "pending" || approval?.status === "consumed";
  const purpose = purposeOf(checkout.metadata);
  const seen =
    before && (before.basketHash !== checkout.basketHash || before.amount !== checkout.amount || before.payTo !== checkout.payTo);
  return {
    now: toWire(now),
    intent: presentCheckout(checkout, now),
    ...(approval && { approval: presentApproval(approval, checkout.tokenDecimals, now) }),
    payee: await viewPayee(checkout),
    ...(await askerOf(checkout, caller.userId)),
    alsoAsked: await alsoAsked(checkout, caller.userId),
    requestedAt: toWire(checkout.createdAt),
    ...(purpose !== undefined && { purpose }),
    ...(approval && { decided: await decidedBy(approval) }),
    amounts: amountsOf(checkout),
    lines: linesOf(checkout),
    destination: destinationOf(checkout),
    ...(await elsewhereOf(checkout)),
    ...(stands && checkout.authorizationId !== null && { authorizationId: checkout.authorizationId }),
    mandates: open || stands ? await choicesOf(checkout) : [],
    stepUp: open && mayDecide ? await stepUpOf(checkout, caller, now) : noStepUp,
    mayDecide,
    ...(open && mayDecide && (await moreTimeOf(checkout))),
    ...(seen && {
      before: {
        basketHash: before.basketHash,
        displayAmount: displayAmount(before.amount, checkout.tokenDecimals, before.asset),
        payTo: before.payTo,
        shownAt: toWire(before.shownAt),
      },
    }),
  };
}

async function choicesOf(checkout: CheckoutRow): Promise<CheckoutView["mandates"]> {
  const choices = await mandateChoices(
    { ...checkout, charged: chargedFor(checkout) },
    await findCandidates(database(), checkout),
  );
  const asks = await rulesThatAsked(checkout);
  return choices.map((choice) => {
    const { denialCode: _, feeQuote: __, requestMs: ___, ...view } = choice;
    return asks ? { ...view, asks } : view;
  });
}

/** Null if no payment was decided yet or its decision is not stored. */
async function rulesThatAsked({ authorizationId }: CheckoutRow): Promise<readonly AskRule[] | null> {
  if (authorizationId === null) return null;
  const findings = await findingsOf(database(), authorizationId);
  return findings && askRules(findings);
}

/** Absent if the request was extended before or cannot be extended. */
async function moreTimeOf(checkout: CheckoutRow): Promise<{ moreTimeUntil?: string }> {
  if (checkout.extendedAt !== null) return {};
  const until = latestEnd(checkout, await endsOf(database(), checkout));
  return until > checkout.expiresAt ? { moreTimeUntil: toWire(until) } : {};
}

const noStepUp: CheckoutView["stepUp"] = {
  required: false,
  reasons: [],
  room: "0",
  done: false,
  byPasskey: false,
  assuranceAsked: "softwareApproved",
  hasPasskey: false,
  hasPassword: false,
};

/** `before` is what the session was shown earlier; null if nothing was, or if the person cannot decide. */
async function review(known: CheckoutRow, { sessionId }: SessionCaller, mayDecide: boolean) {
  return transact(async (tx) => {
    const locked = await lockCheckout(tx, known, known.checkoutIntentId);
    if (!locked) throw notFound("checkout");
    const now = await clock(tx);
    if (!mayDecide || !isOpen(statusAt(locked, now))) return { checkout: locked, before: null, now };
    const looked = locked.status === "previewed";
    const checkout = looked ? await setCheckoutStatus(tx, locked.checkoutIntentId, "awaiting_approval", now) : locked;
    const { checkoutIntentId, basketHash, amount, asset, chain, payTo } = checkout;
    const before = await saveReview(tx, { sessionId, checkoutIntentId, basketHash, amount, asset, chain, payTo, shownAt: now });
    return { checkout, before, now };
  });
}

async function askerOf(checkout: CheckoutRow, userId: string): Promise<Pick<CheckoutView, "agent" | "organization">> {
  const { ownerSubjectId, organizationId } = checkout;
  const { agent, organizationName } = await findAsker(database(), checkout);
  const asker = (await askersOf(database(), { ...checkout, userId }, [ownerSubjectId]))(ownerSubjectId);
  const stays = asker.isServiceAccount ? agent?.active : (await findMember(database(), organizationId, ownerSubjectId)) !== null;
  return {
    agent: { ...asker, active: stays ?? false, paused: agent?.paused ?? false },
    organization: { organizationId, name: organizationName },
  };
}

async function alsoAsked(checkout: CheckoutRow, userId: string): Promise<CheckoutView["alsoAsked"]> {
  const later = checkout.authorizationId === null ? [] : await repeatsOf(database(), checkout, checkout);
  if (later.length === 0) return [];
  const ids = later.map(({ subjectId }) => subjectId);
  const askerOf = await askersOf(database(), { ...checkout, userId }, ids);
  return later.map(({ authorizationId, subjectId }) => ({ authorizationId, asker: askerOf(subjectId) }));
}

async function decidedBy(approval: ApprovalRow): Promise<NonNullable<CheckoutView["decided"]>> {
  const { organizationId, approvedBySubjectId: approver, takenBackBySubjectId: taker, reason, resolvedAt } = approval;
  const names = await subjectNames(database(), organizationId, [approver, ...(taker === null ? [] : [taker])]);
  return {
    by: names.get(approver) ?? approver,
    ...(reason !== null && { reason }),
    ...(taker !== null && resolvedAt && { takenBack: { by: names.get(taker) ?? taker, at: toWire(resolvedAt) } }),
  };
}

function amountsOf(checkout: CheckoutRow): CheckoutView["amounts"] {
  const { amount, tokenDecimals: decimals, asset, feeQuote, canonicalBasket } = checkout;
  const display = (value: bigint) => displayAmount(value, decimals, asset);
  const fee = feeQuote ? parseAmount(feeQuote.serviceFeeAmount, decimals) : 0n;
  const charged = chargedFor(checkout);
  const rest = amount - basketAmount(canonicalBasket, decimals);
  return {
    total: display(amount),
    ...(rest > 0n && { rest: display(rest) }),
    fee: {
      amount: formatAmount(fee, decimals),
      display: display(fee),
      payer: (feeQuote?.feePayer ?? "buyer") as FeePayer,
      buyerShare: display(buyerShareOf(feeQuote, decimals)),
    },
    charged: display(charged),
    chargedAmount: formatAmount(charged, decimals),
  };
}

function linesOf({ canonicalBasket, resourceId, items, challenge, tokenDecimals, asset }: CheckoutRow): LineView[] {
  const title = resourceId === null && items === null ? titleOf(challenge) : undefined;
  return canonicalBasket.lines.map((line) => {
    const subtotal = lineAmount(line, tokenDecimals);
    return {
      ...line,
      ...(title !== undefined && { title }),
      subtotal: formatAmount(subtotal, tokenDecimals),
      displaySubtotal: displayAmount(subtotal, tokenDecimals, asset),
    };
  });
}

function destinationOf({ payTo, tokenAddress, chain, asset }: CheckoutRow): CheckoutView["destination"] {
  const explorer = explorerUrl(chainOf(chain), `address/${payTo}`);
  return {
    payTo,
    tokenAddress,
    tokenName: assetOf(chain, asset)?.tokenName ?? asset,
    chain,
    ...(explorer !== null && { explorerUrl: explorer }),
  };
}

async function stepUpOf(checkout: CheckoutRow, { sessionId, userId }: SessionCaller, now: Date): Promise<CheckoutView["stepUp"]> {
  const { stepUp, assuranceLevel, risk } = await stepUpFacts(checkout, sessionId);
  const reasons = stepUpReasons(stepUp, now);
  const [asked, passkeys, hash] = await Promise.all([
    assuranceAskedBySeller(database(), checkout),
    passkeysOf(database(), userId),
    passwordHashOf(userId),
  ]);
  return {
    required: reasons.length > 0,
    reasons,
    ...limitOf(checkout, stepUp, risk),
    room: formatAmount(roomOf(risk), checkout.tokenDecimals),
    done: stepUp.done,
    byPasskey: assuranceLevel === "passkeyApproved",
    assuranceAsked: highestAsked(asked),
    hasPasskey: passkeys.length > 0,
    hasPassword: hash !== null,
  };
}

function limitOf(
  { asset, tokenDecimals }: CheckoutRow,
  { aboveThreshold, aboveUnverified }: LockedCheckout["stepUp"],
  { most, mostUnverified, lately, latelyUnverified }: LockedCheckout["risk"],
): Pick<CheckoutView["stepUp"], "limit"> {
  if (!aboveThreshold && !aboveUnverified) return {};
  const [above, before] = aboveThreshold ? [most, lately] : [mostUnverified, latelyUnverified];
  const display = (amount: bigint) => displayAmount(amount, tokenDecimals, asset);
  return { limit: { above: display(above), ...(before > 0n && { lately: display(before) }) } };
}
