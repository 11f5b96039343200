import { and, asc, desc, eq, lt, max, ne, sql, type SQL } from "drizzle-orm";
import type { Hex } from "viem";
import type { Database, Tx } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { nonceOfSlot } from "#lib/onchain/registry/refusals.ts";
import type { RegistrationRow } from "#lib/onchain/registry/registration-store.ts";
import { mandateRegistrations, registrationSlots } from "#lib/onchain/tables.ts";

type Db = Database | Tx;
export type NonceSlot = typeof registrationSlots.$inferSelect;

/** Null if the authorization has taken no nonce slot, or if its slot was used or freed. */
export async function nonceSlotOf(db: Db, authorizationId: string): Promise<NonceSlot | null> {
  const [row] = await db
    .select()
    .from(registrationSlots)
    .where(and(eq(registrationSlots.authorizationId, authorizationId), eq(registrationSlots.status, "held")));
  return row ?? null;
}

/** The last authorization that took the nonce slot with this nonce; null if no authorization took it. */
export async function holderOfNonce(db: Db, registrationId: string, nonce: string): Promise<string | null> {
  const [row] = await db
    .select({ authorizationId: registrationSlots.authorizationId })
    .from(registrationSlots)
    .where(and(eq(registrationSlots.registrationId, registrationId), eq(registrationSlots.nonce, nonce)))
    .orderBy(asc(sql`${registrationSlots.status} = 'free'`), desc(registrationSlots.slotId))
    .limit(1);
  return row?.authorizationId ?? null;
}

export type NonceSlotRequest = {
  readonly registration: RegistrationRow;
  readonly authorizationId: string;
  readonly amount: bigint;
  readonly period: number;
  readonly validBefore: Date;
  /** The payment id of a payment by the module. By default, the token's nonce for the slot. */
  readonly nonce?: Hex;
};

/** Null if the period has no free slot. Hold the mandate's lock, or two calls could choose one slot and the second would fail. */
export async function takeNonceSlot(tx: Tx, taking: NonceSlotRequest): Promise<NonceSlot | null> {
  const { registration, authorizationId, amount, period, validBefore } = taking;
  const held = await nonceSlotOf(tx, authorizationId);
  if (held && held.registrationId === registration.registrationId && held.period === period) {
    // The authorization keeps its slot, whose nonce or payment id can pay only once.
    const until = held.validBefore > validBefore ? held.validBefore : validBefore;
    return change(tx, held.slotId, { validBefore: until });
  }
  // The held slot can be freed: callers take another slot only for an authorization without a live execution.
  if (held) await freeNonceSlot(tx, held.slotId);
  const slot = await nextSlot(tx, registration, period);
  if (slot === null) return null;
  const [row] = await tx
    .insert(registrationSlots)
    .values({
      slotId: newId("slot"),
      registrationId: registration.registrationId,
      organizationId: registration.organizationId,
      authorizationId,
      period,
      slot,
      nonce: taking.nonce ?? nonceOfSlot(registration.onChainId as Hex, period, slot),
      amount: amount as NonceSlot["amount"],
      validBefore,
      status: "held",
    })
    .returning();
  return row ?? null;
}

/** One more than the highest number that is taken, or else the lowest number that was freed; null if all are taken. */
async function nextSlot(
  tx: Tx,
  { registrationId, maxPaymentsPerPeriod }: RegistrationRow,
  period: number,
): Promise<number | null> {
  const inPeriod = and(eq(registrationSlots.registrationId, registrationId), eq(registrationSlots.period, period));
  const [highest] = await tx
    .select({ slot: max(registrationSlots.slot) })
    .from(registrationSlots)
    .where(and(inPeriod, ne(registrationSlots.status, "free")));
  const next = (highest?.slot ?? -1) + 1;
  if (next < maxPaymentsPerPeriod) return next;
  const [given] = await tx
    .select({ slot: registrationSlots.slot })
    .from(registrationSlots)
    .where(
      and(
        inPeriod,
        eq(registrationSlots.status, "free"),
        sql`NOT EXISTS (SELECT FROM ${registrationSlots} t WHERE t.registration_id = ${registrationSlots.registrationId}
          AND t.period = ${registrationSlots.period} AND t.slot = ${registrationSlots.slot} AND t.status <> 'free')`,
      ),
    )
    .orderBy(asc(registrationSlots.slot))
    .limit(1);
  return given?.slot ?? null;
}

const change = async (tx: Tx, slotId: string, set: Partial<NonceSlot>): Promise<NonceSlot | null> => {
  const [row] = await tx.update(registrationSlots).set(set).where(eq(registrationSlots.slotId, slotId)).returning();
  return row ?? null;
};

async function end(tx: Tx, which: SQL, status: "used" | "free"): Promise<void> {
  await tx
    .update(registrationSlots)
    .set({ status, resolvedAt: sql`statement_timestamp()` })
    .where(and(which, eq(registrationSlots.status, "held")));
}

/** No later payment gets the slot. */
export const useNonceSlot = (tx: Tx, slotId: string): Promise<void> => end(tx, eq(registrationSlots.slotId, slotId), "used");

export const useNonceSlotOf = (tx: Tx, authorizationId: string): Promise<void> =>
  end(tx, eq(registrationSlots.authorizationId, authorizationId), "used");

/** Call this only if no signed payment with the slot has left this service, or if all that did have expired. */
export const freeNonceSlot = (tx: Tx, slotId: string): Promise<void> => end(tx, eq(registrationSlots.slotId, slotId), "free");

export type DueSlot = { readonly slot: NonceSlot; readonly registration: RegistrationRow };

/** Leaves out authorizations with an execution that has not failed, because the reconciler handles those executions. */
export async function dueNonceSlots(
  db: Db,
  marginMs: number,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<readonly DueSlot[]> {
  return db
    .select({ slot: registrationSlots, registration: mandateRegistrations })
    .from(registrationSlots)
    .innerJoin(mandateRegistrations, eq(mandateRegistrations.registrationId, registrationSlots.registrationId))
    .where(
      and(
        eq(registrationSlots.status, "held"),
        lt(registrationSlots.validBefore, sql`clock_timestamp() - ${marginMs} * interval '1 millisecond'`),
        sql`NOT EXISTS (SELECT FROM executions e WHERE e.authorization_id = ${registrationSlots.authorizationId}
          AND e.settlement_status IN ('pending', 'processing', 'unknown', 'settled'))`,
      ),
    )
    .orderBy(asc(registrationSlots.validBefore), asc(registrationSlots.slotId))
    .offset(offset)
    .limit(limit);
}
