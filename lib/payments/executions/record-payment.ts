import { letThrough } from "#lib/approvals/decision/let-through.ts";
import { finishCheckout } from "#lib/approvals/decision/redeem-approval.ts";
import { audit, clock } from "#lib/audit/transact.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Tx } from "#lib/db/client.ts";
import { callerIsLive, findAuthorization, type AuthorizationRow } from "#lib/holds/execution-store.ts";
import {
  captureHold,
  holdOf,
  lockMandate,
  partsOf,
  refundHold,
  releaseHold,
  type Hold,
  type MandateRow,
} from "#lib/holds/hold-store.ts";
import { changeRecorded, insertRecord, recordedOf, type RecordedRow } from "#lib/holds/record-store.ts";
import type { Context, Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { newId } from "#lib/ids.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { add, max, readAmount, type Atomic, rateIn } from "#lib/money.ts";
import { suspendIfBroken } from "#lib/payments/executions/caps.ts";
import { recordPayment as operation } from "#lib/payments/executions/record-contract.ts";
import { presentRecord, presentRecorded } from "#lib/payments/present-execution.ts";
import { decideRecord, type RecordDecision } from "#lib/payments/executions/record-rules.ts";
import { invalidField, notFound, Problem } from "#lib/problem.ts";

type Caller = Context<typeof operation>["caller"];
type Body = Parameters<Handler<typeof operation>>[0]["body"];

/** A part of a payment that is made elsewhere. This service pays nothing. It is accepted under every mandate, as money may have moved. */
export const recordPayment: Handler<typeof operation> = ({ authorizationId, body }, { caller, idempotency, requestId }) =>
  once(operation, idempotency, async (tx) => {
    await enterGate(tx);
    const payment = await findAuthorization(tx, caller, authorizationId);
    if (!payment) throw notFound("payment");
    // Members are locked before mandates.
    const mayClose = await requireMayRecord(tx, caller, payment);
    const mandate = await lockMandate(tx, payment.mandateId);
    const recorded = mandate && (await recordedOf(tx, authorizationId));
    if (!recorded) throw notMadeElsewhere();
    const hold = await keptHold(tx, authorizationId);
    const amount = amountOf(payment, body);
    const state = { ...recorded, status: recorded.status as "open" | "closed", hold: partsOf(hold), ...rateOf(payment) };
    const decided = decideRecord(state, { outcome: body.outcome, amount }, mayClose);
    const done: Done = { tx, caller, requestId, payment, mandate, recorded, hold, decided, body, amount };
    await requirePassage(done);
    return save(done, !mayClose);
  });

type Done = {
  readonly tx: Tx;
  readonly caller: Caller;
  readonly requestId: string;
  readonly payment: AuthorizationRow;
  readonly mandate: MandateRow;
  readonly recorded: RecordedRow;
  readonly hold: Hold;
  readonly decided: RecordDecision;
  readonly body: Body;
  readonly amount: Atomic;
};

const notMadeElsewhere = (): Problem =>
  new Problem("conflict", {
    detail:
      "This payment was not authorized with paymentChallengeType record, or it was denied or not approved, so nothing is recorded for it. Authorize what is paid elsewhere with that type first.",
  });

/** Whether the caller may close the payment: a person or another key with payments:record. @throws Problem forbidden */
async function requireMayRecord(tx: Tx, caller: Caller, payment: AuthorizationRow): Promise<boolean> {
  if (!(await callerIsLive(tx, caller)))
    throw new Problem("forbidden", { detail: "The credential of this request has ended. Ask again with a valid one." });
  const isOwn = caller.subjectId === payment.subjectId;
  const mayClose = caller.capabilities.has("payments:record") && (caller.kind === "session" || !isOwn);
  if (!mayClose && !isOwn)
    throw new Problem("forbidden", {
      detail: "Only the agent that authorized this payment, a person, or a key with payments:record may record it.",
    });
  if (mayClose && caller.kind === "session") await requireStillHeld(tx, caller, "payments:record");
  return mayClose;
}

/** A payment that waits for a person has a hold that may still be released, so nothing is recorded for it. */
async function keptHold(tx: Tx, authorizationId: string): Promise<Hold> {
  const hold = await holdOf(tx, authorizationId);
  if (!hold || (hold.captured === null && hold.status !== "held")) throw notMadeElsewhere();
  if (hold.captured === null)
    throw new Problem("approval_required", {
      detail: "A person of the buyer must approve this payment first. Nothing was recorded.",
      nextActions: [
        {
          type: "poll_status",
          label: "Read the payment and its approval",
          metadata: { pollWith: { method: "GET", path: `/api/v1/payments/${authorizationId}` } },
        },
      ],
    });
  return hold;
}

function amountOf({ asset, chain }: AuthorizationRow, body: Body): Atomic {
  if (body.asset !== asset) throw invalidField("/asset", `This payment is in ${asset}.`);
  const read = readAmount(body.amount, decimalsOf({ asset, chain }));
  if (!read.ok) throw invalidField("/amount", read.detail);
  return read.amount;
}

const rateOf = ({ asset, chain, unitRate }: AuthorizationRow) => ({
  decimals: decimalsOf({ asset, chain }),
  rate: rateIn(unitRate!),
});

/** What a person frees can be spent again, so it needs the same step-up as allowing it. @throws Problem step_up_required */
async function requirePassage({ tx, caller, payment, mandate, decided, body }: Done): Promise<void> {
  if (caller.kind !== "session" || !decided.closes) return;
  await letThrough(tx, caller, {
    organizationId: mandate.organizationId,
    environment: caller.environment,
    subjectId: payment.authorizationId,
    sellerId: null,
    asset: mandate.asset,
    chain: mandate.chain,
    decimals: decimalsOf(mandate),
    amount: decided.release,
    // What is freed can go to payees that nobody has verified.
    verified: false,
    terms: ["recordPayment", body.outcome, body.amount, body.asset, decided.release.toString()],
  });
}

async function carryOut(tx: Tx, hold: Hold, { capture, release, refund }: RecordDecision): Promise<Hold> {
  const captured = capture > 0n ? (await captureHold(tx, hold, capture)).hold : hold;
  const released = release > 0n ? await releaseHold(tx, captured, "released", release) : captured;
  return refund > 0n ? refundHold(tx, released, refund) : released;
}

async function save(done: Done, byAgent: boolean) {
  const { tx, caller, requestId, payment, recorded, hold, decided, body, amount } = done;
  const { authorizationId, mandateId } = payment;
  const now = await clock(tx);
  const after = await carryOut(tx, hold, decided);
  const isPaid = body.outcome === "paid" || body.outcome === "partlyPaid";
  const changed = await changeRecorded(tx, authorizationId, {
    ...(isPaid && { paid: add(recorded.paid, amount) }),
    ...(body.outcome === "refunded" && { refunded: add(recorded.refunded, amount) }),
    ...asksAfter(done),
    ...(decided.closes && { status: "closed", closedBy: caller.subjectId, closedAt: now }),
  });
  if (decided.closes) await finishCheckout(tx, authorizationId, changed.paid > 0n ? "settled" : "failed", now);
  const record = await insertRecord(tx, {
    recordId: newId("record"),
    authorizationId,
    organizationId: payment.organizationId,
    outcome: body.outcome,
    amount,
    booked: max(decided.capture, decided.refund),
    paidAt: body.paidAt === undefined ? null : new Date(body.paidAt),
    reference: body.reference ?? null,
    evidenceHash: body.evidence?.sha256 ?? null,
    evidenceUrl: body.evidence?.url ?? null,
    recordedBy: caller.subjectId,
    byAgent,
    createdAt: now,
  });
  const event = { actorId: caller.subjectId, organizationId: payment.organizationId, subjectId: payment.subjectId } as const;
  const entity = { entityType: "authorization", entityId: authorizationId } as const;
  const { recordId, outcome } = record;
  const metadata = { requestId, mandateId, recordId, outcome, amount: body.amount, asset: body.asset, closed: decided.closes };
  audit(tx, { ...event, ...entity, type: "payment.recorded", metadata }, now);
  if (decided.exceeded) await noteExceeded(done, now);
  return { payment: presentRecorded(payment, changed, after), record: presentRecord(payment, record) };
}

/** A person who closes the payment has seen what it asks. */
function asksAfter({ decided, recorded }: Done): { readonly asks?: string | null } {
  if (decided.closes) return { asks: null };
  return decided.exceeded && recorded.asks === null ? { asks: "exceeded" } : {};
}

/** More was paid than was held. It counts even above a limit; an active mandate is then suspended. */
async function noteExceeded(done: Done, now: Date): Promise<void> {
  const { tx, payment, recorded } = done;
  const { authorizationId, organizationId, mandateId } = recorded;
  const event = { actorId: "service", organizationId, subjectId: payment.subjectId } as const;
  const entity = { entityType: "authorization", entityId: authorizationId } as const;
  const metadata = { mandateId, asks: asksAfter(done).asks === "exceeded" };
  audit(tx, { ...event, ...entity, type: "payment.exceeded", metadata }, now);
  await suspendIfBroken(tx, recorded, "A recorded payment exceeds a limit of the mandate.", now);
}
