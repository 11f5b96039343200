import { letThrough } from "#lib/approvals/decision/let-through.ts";
import { audit, clock } from "#lib/audit/transact.ts";
import * as contract from "#lib/cards/contract.ts";
import { isSilent, lockCard } from "#lib/cards/follow-card.ts";
import { movePart } from "#lib/cards/move-part.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import { cardOfPayment, changeCardAuthorization, isForgotten } from "#lib/holds/card-store.ts";
import { findAuthorization } from "#lib/holds/execution-store.ts";
import { holdOf, partsOf } from "#lib/holds/hold-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { add, chainOfUnit, formatAmount, UNIT_DECIMALS, zero } from "#lib/money.ts";
import { notFound, Problem } from "#lib/problem.ts";

/** A person has looked at Stripe. What Stripe tells later still counts. */
export const closeCardPayment: Handler<typeof contract.closeCardPayment> = ({ authorizationId }, { caller, idempotency }) =>
  once(contract.closeCardPayment, idempotency, async (tx) => {
    await enterGate(tx);
    const payment = await findAuthorization(tx, caller, authorizationId);
    const card = payment && (await cardOfPayment(tx, authorizationId));
    if (!payment || !card) throw notFound("payment by card");
    await requireStillHeld(tx, caller, "payments:record");
    const locked = await lockCard(tx, card);
    if (!locked || locked.row.asks === null) throw nothingAsked();
    const { row, decided } = locked;
    // What Stripe confirmed stays held, unless it has been silent for longer than any authorization lives.
    const releases =
      row.asks === "unconfirmed" ? decided.filter((part) => isSilent(part, row) || (part.open > zero && isForgotten(row))) : [];
    let released = zero;
    for (const part of releases) {
      const hold = await holdOf(tx, part.authorizationId);
      if (hold) released = add(released, partsOf(hold).open);
    }
    const unit = payment.unitRate?.split(" ")[1] ?? payment.asset;
    await letThrough(tx, caller, {
      organizationId: payment.organizationId,
      environment: caller.environment,
      subjectId: authorizationId,
      sellerId: null,
      asset: unit,
      chain: chainOfUnit(unit),
      decimals: UNIT_DECIMALS,
      amount: released,
      verified: false,
      terms: ["closeCardPayment", released.toString()],
    });
    const now = await clock(tx);
    for (const part of releases) await movePart(tx, part, { captured: part.captured, open: zero }, now);
    await changeCardAuthorization(tx, card, { asks: null });
    const event = { actorId: caller.userId, organizationId: payment.organizationId, subjectId: payment.subjectId } as const;
    const text = formatAmount(released, UNIT_DECIMALS);
    const metadata = { mandateId: payment.mandateId, asked: locked.row.asks, released: text };
    audit(tx, { ...event, type: "payment.cardClosed", entityType: "authorization", entityId: authorizationId, metadata }, now);
    return { released: text, unit };
  });

const nothingAsked = (): Problem =>
  new Problem("conflict", { detail: "Nobody is asked about this payment by card. Stripe's events tell what becomes of it." });
