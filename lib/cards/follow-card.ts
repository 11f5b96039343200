import { audit, clock, transact } from "#lib/audit/transact.ts";
import { follow, later, type CardPart, type Known } from "#lib/cards/card-rules.ts";
import { findCard, type ConnectionRow } from "#lib/cards/connection-store.ts";
import { itemOf } from "#lib/cards/decide-request.ts";
import type { Told } from "#lib/cards/stripe-event.ts";
import { isServed } from "#lib/cards/stripe-event.ts";
import { database, type Tx } from "#lib/db/client.ts";
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
import { daysAfter } from "#lib/time.ts";

/** How many days an expired authorization may still be captured, as Stripe says; lodging has longer. */
const TAIL_DAYS = 7;
const LODGING_TAIL_DAYS = 31;
const isLodging = (category: string): boolean => /hotel|motel|lodging|resort|timeshare/.test(category);

type Followed = { readonly decisions: number };
type Owner = Pick<ConnectionRow, "connectionId" | "organizationId">;

/**
 * Brings the holds of an authorization to what Stripe tells. What Stripe did without asking is first put to the mandate, so that it is
 * counted; a mandate that denies it counts what was captured nevertheless, and people are told.
 */
export async function followCard(connection: ConnectionRow, told: Told, requestId: string): Promise<void> {
  const first = await followOnce(connection, told);
  if (first.decisions > 0 || !movesMoney(told)) return;
  if (await askAfterwards(connection, told, requestId)) await followOnce(connection, told);
}

const captured = ({ transactions }: Told): Atomic =>
  transactions.filter(({ kind }) => kind === "capture").reduce((sum, { amount }) => add(sum, amount), zero);

const movesMoney = (told: Told): boolean =>
  captured(told) > zero || (told.snapshot?.approved === true && told.snapshot.amount > zero);

/** Returns false if the card is not mapped, or pays in another currency than Stripe's cards have. */
async function askAfterwards(connection: ConnectionRow, told: Told, requestId: string): Promise<boolean> {
  const card = await findCard(database(), connection.connectionId, told.cardId);
  if (!card || !isServed(told)) return false;
  const amount = max(told.snapshot?.approved ? told.snapshot.amount : zero, captured(told));
  const position = Math.max((told.snapshot?.requests ?? 1) - 1, 0);
  const request = { ...told, amount, position };
  const answer = await submitItem(itemOf({ connection, card, name: `${told.stripeId} unasked`, request, requestId }));
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

function snapshotOf({ approved, status, amount, requests, toldAt }: CardAuthorizationRow): Known["snapshot"] {
  if (approved === null || status === null || amount === null || requests === null || toldAt === null) return null;
  return { approved, status: status as NonNullable<Known["snapshot"]>["status"], amount, requests, at: toldAt };
}

async function knownOf(tx: Tx, row: CardAuthorizationRow, { snapshot: told }: Told): Promise<Known> {
  const before = snapshotOf(row);
  return { snapshot: before && told ? later(before, told) : (told ?? before), captures: await capturesOf(tx, row) };
}

type Case = {
  readonly row: CardAuthorizationRow;
  readonly decided: readonly DecidedPart[];
  readonly told: Pick<Told, "merchant">;
  readonly known: Known;
};

async function bringTo(tx: Tx, { row, decided, told, known }: Case, now: Date): Promise<void> {
  const { snapshot } = known;
  const isExpired = snapshot?.status === "expired";
  const tail = daysAfter(now, isLodging(told.merchant.category) ? LODGING_TAIL_DAYS : TAIL_DAYS);
  const tailUntil = isExpired ? (row.tailUntil ?? tail) : null;
  const followed = follow(known, decided, tailUntil !== null && tailUntil <= now);
  let raised = zero;
  for (const [at, part] of decided.entries()) raised = add(raised, await movePart(tx, part, followed.parts[at]!, now));
  const isOutside = followed.missing > zero || raised > zero || (decided.length === 0 && (snapshot?.approved ?? false));
  const asks = followed.beyond > zero ? "exceeded" : isOutside ? "outside" : row.asks;
  await changeCardAuthorization(tx, row, {
    ...(snapshot && {
      approved: snapshot.approved,
      status: snapshot.status,
      amount: snapshot.amount,
      requests: snapshot.requests,
      toldAt: snapshot.at,
    }),
    tailUntil: tailUntil !== null && tailUntil <= now ? null : tailUntil,
    asks,
  });
  await tell(tx, { row, decided, asks }, now);
}

const eventTypes: Readonly<Record<string, string>> = {
  exceeded: "payment.cardExceeded",
  outside: "payment.cardOutside",
  unconfirmed: "payment.cardUnconfirmed",
};

/** A person is asked once, until somebody closes the question. */
async function tell(
  tx: Tx,
  { row, decided, asks }: Pick<Case, "row" | "decided"> & { readonly asks: string | null },
  now: Date,
): Promise<void> {
  const last = decided.at(-1);
  if (asks === null || asks === row.asks || !last) return;
  const { authorizationId, organizationId, mandateId, subjectId } = last;
  const event = {
    actorId: "service",
    organizationId,
    subjectId,
    entityType: "authorization",
    entityId: authorizationId,
  } as const;
  audit(tx, { ...event, type: eventTypes[asks]!, metadata: { mandateId } }, now);
  if (asks !== "unconfirmed") await suspendIfBroken(tx, last, "A payment by card exceeds a limit of the mandate.", now);
}

/** Stripe has told nothing of what is held. Nothing is freed. */
export async function askUnconfirmed(known: CardAuthorizationRow): Promise<void> {
  await transact(async (tx) => {
    const locked = await lockCard(tx, known);
    if (!locked || locked.row.asks !== null) return;
    await changeCardAuthorization(tx, known, { asks: "unconfirmed" });
    await tell(tx, { ...locked, asks: "unconfirmed" }, await clock(tx));
  });
}

/** What a hold is moved to. */
export type PartTarget = Pick<CardPart, "open" | "captured">;
