import { audit, clock, transact } from "#lib/audit/transact.ts";
import { follow, hasTail, withSnapshot, type CardPart, type Known, type Snapshot } from "#lib/cards/card-rules.ts";
import { findCard, type ConnectionRow } from "#lib/cards/connection-store.ts";
import { itemOf } from "#lib/cards/decide-request.ts";
import { isServed, type Told } from "#lib/cards/stripe-event.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { inTurn } from "#lib/db/turns.ts";
import {
  capturesOf,
  changeCardAuthorization,
  insertCardTransactions,
  lockCardAuthorization,
  mandatesOfCard,
  partsOfCard,
  type CardAuthorizationRow,
  type DecidedPart,
} from "#lib/holds/card-store.ts";
import { lockMandate } from "#lib/holds/hold-store.ts";
import { add, max, zero, type Atomic } from "#lib/money.ts";
import { movePart } from "#lib/cards/move-part.ts";
import { suspendIfBroken } from "#lib/payments/executions/caps.ts";
import { submitItem } from "#lib/payments/authorize-payment.ts";
import { Problem } from "#lib/problem.ts";
import { daysAfter, earliest } from "#lib/time.ts";

/** What `asks` says until the mandate was asked about what Stripe let pass, so that people are told of it also after a crash. */
const UNASKED = "unasked";

/** How many days an expired authorization may still be captured, as Stripe says; lodging has longer. */
const TAIL_DAYS = 7;
/** The last transaction may come later than the event that says that the authorization was captured. */
const CLOSED_TAIL_DAYS = 1;
const LODGING_TAIL_DAYS = 31;
const isLodging = (category: string): boolean => /hotel|motel|lodging|resort|timeshare/.test(category);

/** One event of a connection at a time, so that many of them do not take every connection to the database. */
const turnOf = ({ connectionId }: Owner): string => `cards ${connectionId}`;

type Followed = { readonly decisions: number };
type Owner = Pick<ConnectionRow, "connectionId" | "organizationId">;

/**
 * Brings the holds of an authorization to what Stripe tells. What Stripe did without asking is first put to the mandate, so that it is
 * counted; a mandate that denies it counts what was captured nevertheless, and people are told.
 */
export async function followCard(connection: ConnectionRow, told: Told, requestId: string): Promise<void> {
  const first = await inTurn(turnOf(connection), () => followOnce(connection, told));
  if (first.decisions > 0 || !movesMoney(told)) return;
  const isCounted = await askAfterwards(connection, told, requestId);
  if (isCounted) await inTurn(turnOf(connection), () => followOnce(connection, told));
  else await transact((tx) => noteUnmapped(tx, connection, told));
}

/** No mandate counts it. People see it in the audit log, and as an event. */
async function noteUnmapped(
  tx: Tx,
  { connectionId, organizationId }: Owner,
  { stripeId, cardId, merchant }: Told,
): Promise<void> {
  const key = { connectionId, stripeId, organizationId, cardId, merchantName: merchant.name };
  const { asks } = await lockCardAuthorization(tx, key);
  if (asks !== UNASKED) return;
  await changeCardAuthorization(tx, key, { asks: "outside" });
  const event = { type: "card.paidUnmapped", actorId: "service", organizationId, entityType: "card", entityId: cardId } as const;
  audit(tx, { ...event, metadata: { connectionId, stripeId } }, await clock(tx));
}

const captured = ({ transactions }: Told): Atomic =>
  transactions.filter(({ kind }) => kind === "capture").reduce((sum, { amount }) => add(sum, amount), zero);

const movesMoney = (told: Told): boolean =>
  captured(told) > zero || (told.snapshot?.approved === true && told.snapshot.amount > zero);

/** Returns false if the card is not mapped, or pays in another currency than Stripe's cards have. */
async function askAfterwards(connection: ConnectionRow, told: Told, requestId: string): Promise<boolean> {
  const card = await findCard(database(), connection.connectionId, told.cardId, "also removed");
  if (!card || !isServed(told)) return false;
  const amount = max(told.snapshot?.approved ? told.snapshot.amount : zero, captured(told));
  const position = Math.max((told.snapshot?.requests ?? 1) - 1, 0);
  const request = { ...told, amount, position };
  const item = itemOf({ connection, card, name: `${told.stripeId} unasked`, request, requestId });
  const answer = await submitItem({ ...item, isUnasked: true, fingerprint: item.slot });
  if (answer.kind === "problem") throw answer.problem;
  return true;
}

const TRIES = 5;

async function followOnce(connection: Owner, told: Told): Promise<Followed> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const followed = await transact((tx) => followIn(tx, connection, told));
    if (followed) return followed;
  }
  throw new Problem("overloaded", { detail: "The authorization changed again and again. Send the event again." });
}

/** As if Stripe told again what is known, because time has passed. */
export const followAgain = ({ connectionId, organizationId, stripeId, cardId, merchantName }: CardAuthorizationRow) =>
  followOnce(
    { connectionId, organizationId },
    {
      stripeId,
      cardId,
      currency: "",
      merchant: { name: merchantName, category: "", country: null, id: "" },
      snapshot: null,
      transactions: [],
    },
  );

/** The rows of an authorization, locked with the mandates of our decisions; null if another mandate decided meanwhile. */
export async function lockCard(tx: Tx, row: Parameters<typeof lockCardAuthorization>[1]) {
  const mandateIds = (await mandatesOfCard(tx, row)).toSorted();
  for (const mandateId of mandateIds) await lockMandate(tx, mandateId);
  const locked = await lockCardAuthorization(tx, row);
  const decided = await partsOfCard(tx, row);
  return decided.every(({ mandateId }) => mandateIds.includes(mandateId)) ? { row: locked, decided } : null;
}

/** Null if a decision under another mandate was added before the locks were taken. */
async function followIn(tx: Tx, { connectionId, organizationId }: Owner, told: Told): Promise<Followed | null> {
  const key = { connectionId, stripeId: told.stripeId };
  const locked = await lockCard(tx, { ...key, organizationId, cardId: told.cardId, merchantName: told.merchant.name });
  if (!locked) return null;
  const { row, decided } = locked;
  await insertCardTransactions(
    tx,
    told.transactions.map(({ id: transactionId, kind, amount }) => ({
      ...key,
      transactionId,
      organizationId,
      cardId: told.cardId,
      kind,
      amount,
      currency: told.currency,
      merchantName: told.merchant.name,
    })),
  );
  const now = await clock(tx);
  await bringTo(tx, { row, decided, told, known: await knownOf(tx, row, told) }, now);
  return { decisions: decided.length };
}

function knownBefore(row: CardAuthorizationRow): Omit<Known, "captures"> {
  const { approved, status, amount, requests, toldAt, pendingAmount, pendingRequests, pendingToldAt } = row;
  const isKnown = approved !== null && status !== null && amount !== null && requests !== null && toldAt !== null;
  const isPending = pendingAmount !== null && pendingRequests !== null && pendingToldAt !== null;
  return {
    snapshot: isKnown ? { approved, status: status as Snapshot["status"], amount, requests, at: toldAt } : null,
    pending: isPending
      ? { approved: true, status: "pending", amount: pendingAmount, requests: pendingRequests, at: pendingToldAt }
      : null,
  };
}

async function knownOf(tx: Tx, row: CardAuthorizationRow, { snapshot }: Told): Promise<Known> {
  const before = { ...knownBefore(row), captures: await capturesOf(tx, row) };
  return snapshot ? withSnapshot(before, snapshot) : before;
}

const columnsOf = ({ snapshot, pending }: Known) => ({
  ...(snapshot && {
    approved: snapshot.approved,
    status: snapshot.status,
    amount: snapshot.amount,
    requests: snapshot.requests,
    toldAt: snapshot.at,
  }),
  ...(pending && { pendingAmount: pending.amount, pendingRequests: pending.requests, pendingToldAt: pending.at }),
});

type Case = {
  readonly row: CardAuthorizationRow;
  readonly decided: readonly DecidedPart[];
  readonly told: Told;
  readonly known: Known;
};

/** How long an authorization that ended is expected to be captured. Null if it has not ended, or if that time is over. */
function tailOf({ row, told, known }: Case, now: Date): Pick<CardAuthorizationRow, "tailUntil" | "tailOver"> {
  const { snapshot } = known;
  if (!snapshot || !hasTail(snapshot)) return { tailUntil: null, tailOver: row.tailOver };
  const days =
    snapshot.status === "closed" ? CLOSED_TAIL_DAYS : isLodging(told.merchant.category) ? LODGING_TAIL_DAYS : TAIL_DAYS;
  const ends = daysAfter(now, days);
  const isSame = row.status === snapshot.status;
  const tailUntil = row.tailUntil === null ? ends : isSame ? row.tailUntil : earliest(row.tailUntil, ends);
  const tailOver = row.tailOver || tailUntil <= now;
  return { tailUntil: tailOver ? null : tailUntil, tailOver };
}

/** Whether no event has told about this part of what is held. */
export const isSilent = ({ open, position }: CardPart, told: { readonly requests: number | null } | null): boolean =>
  open > zero && position >= (told?.requests ?? 0);

function asksAfter({ row, decided, known }: Case, { beyond, missing }: ReturnType<typeof follow>, raised: Atomic): string | null {
  if (row.asks === UNASKED) return "outside";
  if (beyond > zero) return "exceeded";
  if (missing > zero || raised > zero) return "outside";
  // Stripe has told what a person was asked about.
  const isTold = row.asks === "unconfirmed" && !decided.some((part) => isSilent(part, known.snapshot));
  return isTold ? null : row.asks;
}

async function bringTo(tx: Tx, it: Case, now: Date): Promise<void> {
  const { row, decided, known } = it;
  const tail = tailOf(it, now);
  const followed = follow(known, decided, tail.tailOver);
  let raised = zero;
  for (const [at, part] of decided.entries()) raised = add(raised, await movePart(tx, part, followed.parts[at]!, now));
  const asks = decided.length === 0 ? (row.asks ?? (movesMoney(it.told) ? UNASKED : null)) : asksAfter(it, followed, raised);
  await changeCardAuthorization(tx, row, { ...columnsOf(known), ...tail, asks });
  const isNew = followed.beyond > zero || raised > zero || asks !== row.asks;
  if (asks !== null && isNew) await tell(tx, { decided, asks }, now);
}

const eventTypes: Readonly<Record<string, string>> = {
  exceeded: "payment.cardExceeded",
  outside: "payment.cardOutside",
  unconfirmed: "payment.cardUnconfirmed",
};

async function tell(tx: Tx, { decided, asks }: Pick<Case, "decided"> & { readonly asks: string }, now: Date): Promise<void> {
  const last = decided.at(-1);
  if (!last) return;
  const { authorizationId, organizationId, mandateId, subjectId } = last;
  const event = {
    actorId: "service",
    organizationId,
    subjectId,
    entityType: "authorization",
    entityId: authorizationId,
  } as const;
  audit(tx, { ...event, type: eventTypes[asks]!, metadata: { mandateId } }, now);
  if (asks === "unconfirmed") return;
  for (const part of new Map(decided.map((one) => [one.mandateId, one])).values())
    await suspendIfBroken(tx, part, "A payment by card exceeds a limit of the mandate.", now, part.unitRate === null);
}

/** Stripe has told nothing of what is held. Nothing is freed. */
export async function askUnconfirmed(known: CardAuthorizationRow): Promise<void> {
  await transact(async (tx) => {
    const locked = await lockCard(tx, known);
    if (!locked || locked.row.asks !== null) return;
    await changeCardAuthorization(tx, known, { asks: "unconfirmed" });
    await tell(tx, { decided: locked.decided, asks: "unconfirmed" }, await clock(tx));
  });
}
