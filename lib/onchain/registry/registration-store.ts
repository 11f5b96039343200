import { and, asc, count, desc, eq, isNull, lte, ne, sql, sum, type SQL } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { after } from "#lib/db/leases.ts";
import { env } from "#lib/env.ts";
import { lower } from "#lib/evm.ts";
import { currentVersion, mandateColumns } from "#lib/mandates/store.ts";
import { mandates, mandateVersions } from "#lib/mandates/tables.ts";
import { atomicOf } from "#lib/money.ts";
import type { RegistrableMandate } from "#lib/onchain/registry/registration-rules.ts";
import type { RegistrationTerms } from "#lib/onchain/registry/registration-terms.ts";
import { mandateRegistrations, registrationSlots } from "#lib/onchain/tables.ts";

export type RegistrationRow = typeof mandateRegistrations.$inferSelect;

const columns = { ...mandateColumns, writtenAt: mandateVersions.createdAt };

/** Finds mandates of any organization, because anyone who has the wallet's signature may register one. */
export async function findRegistrable(db: Database | Tx, mandateId: string): Promise<RegistrableMandate | null> {
  const [row] = await db
    .select(columns)
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(and(eq(mandates.mandateId, mandateId), eq(mandates.environment, env().ENVIRONMENT)));
  return row ?? null;
}

export async function lockRegistrable(tx: Tx, mandateId: string): Promise<RegistrableMandate | null> {
  await tx.select({ id: mandates.mandateId }).from(mandates).where(eq(mandates.mandateId, mandateId)).for("no key update");
  return findRegistrable(tx, mandateId);
}

/** The registration that an earlier request with the same body created for this mandate. */
export async function findAsked(db: Database | Tx, mandateId: string, fingerprint: string): Promise<RegistrationRow | null> {
  const [row] = await db
    .select()
    .from(mandateRegistrations)
    .where(and(eq(mandateRegistrations.mandateId, mandateId), eq(mandateRegistrations.fingerprint, fingerprint)))
    .orderBy(desc(mandateRegistrations.registrationId))
    .limit(1);
  return row ?? null;
}

export async function findRegistration(db: Database | Tx, registrationId: string): Promise<RegistrationRow | null> {
  const [row] = await db.select().from(mandateRegistrations).where(eq(mandateRegistrations.registrationId, registrationId));
  return row ?? null;
}

/** Null if the mandate's current version is not registered. updateMandate makes a new version even for a new name. */
export async function currentRegistration(
  db: Database | Tx,
  { mandateId, chain, registry }: { readonly mandateId: string; readonly chain: string; readonly registry: string },
): Promise<RegistrationRow | null> {
  const [row] = await db
    .select({ registration: mandateRegistrations })
    .from(mandateRegistrations)
    .innerJoin(
      mandates,
      and(eq(mandates.mandateId, mandateRegistrations.mandateId), eq(mandates.version, mandateRegistrations.version)),
    )
    .where(
      and(
        eq(mandateRegistrations.mandateId, mandateId),
        eq(mandateRegistrations.chain, chain),
        eq(mandateRegistrations.registry, registry),
        eq(mandateRegistrations.status, "registered"),
      ),
    )
    .orderBy(desc(mandateRegistrations.registrationId))
    .limit(1);
  return row?.registration ?? null;
}

type Account = { readonly chain: string; readonly account: string };

const ofAccount = ({ chain, account }: Account) =>
  and(eq(mandateRegistrations.chain, chain), eq(mandateRegistrations.account, account));

async function exists(db: Database | Tx, where: SQL | undefined): Promise<boolean> {
  const rows = await db.select({ version: mandateRegistrations.version }).from(mandateRegistrations).where(where).limit(1);
  return rows.length > 0;
}

export async function isOnChain(tx: Tx, { mandateId, version }: { readonly mandateId: string; readonly version: number }) {
  const ofVersion = and(eq(mandateRegistrations.mandateId, mandateId), eq(mandateRegistrations.version, version));
  return exists(tx, and(ofVersion, eq(mandateRegistrations.status, "registered")));
}

export const isNonceTaken = (db: Database | Tx, account: Account, nonce: bigint): Promise<boolean> =>
  exists(db, and(ofAccount(account), eq(mandateRegistrations.nonce, atomicOf(nonce))));

export async function isRegistered(db: Database | Tx, account: Account, onChainId: string): Promise<boolean> {
  const ofMandate = and(ofAccount(account), eq(mandateRegistrations.onChainId, onChainId));
  return exists(db, and(ofMandate, ne(mandateRegistrations.status, "failed")));
}

type NewRegistration = {
  readonly registrationId: string;
  readonly mandate: RegistrableMandate;
  readonly registry: string;
  readonly onChainId: string;
  readonly terms: RegistrationTerms;
  readonly nonce: bigint;
  readonly deadline: number;
  readonly fingerprint: string;
  readonly relayId: string;
  readonly now: Date;
};

/** Returns null if another registration of the account has the nonce or the same version of the mandate. */
export async function insertRegistration(tx: Tx, registration: NewRegistration): Promise<RegistrationRow | null> {
  const { mandate, terms, now, nonce, registry, ...given } = registration;
  const { organizationId, environment, mandateId, version, chain } = mandate;
  const [row] = await tx
    .insert(mandateRegistrations)
    .values({
      ...given,
      ...terms,
      organizationId,
      environment,
      mandateId,
      version,
      chain,
      registry: lower(registry),
      nonce: atomicOf(nonce),
      status: "submitted",
      createdAt: now,
      nextCheckAt: now,
    })
    .onConflictDoNothing()
    .returning();
  return row ?? null;
}

/** Keeps the first hash, so that a retry of the request gets the same hash until the registration is confirmed. */
export async function noteTransaction(db: Database | Tx, registrationId: string, txHash: string): Promise<void> {
  await db
    .update(mandateRegistrations)
    .set({ txHash })
    .where(and(eq(mandateRegistrations.registrationId, registrationId), isNull(mandateRegistrations.txHash)));
}

export const dueRegistrations = (db: Database | Tx, limit: number): Promise<RegistrationRow[]> =>
  db
    .select()
    .from(mandateRegistrations)
    .where(and(eq(mandateRegistrations.status, "submitted"), lte(mandateRegistrations.nextCheckAt, sql`clock_timestamp()`)))
    .orderBy(asc(mandateRegistrations.nextCheckAt))
    .limit(limit);

export async function postponeCheck(db: Database | Tx, registrationId: string, milliseconds: number): Promise<void> {
  await db
    .update(mandateRegistrations)
    .set({ nextCheckAt: after(milliseconds) })
    .where(eq(mandateRegistrations.registrationId, registrationId));
}

type Outcome =
  | { readonly status: "registered"; readonly confirmedAt: Date; readonly txHash?: string }
  | { readonly status: "failed"; readonly failure: string };

/** Null if the registration is no longer submitted. */
export async function closeRegistration(tx: Tx, registrationId: string, outcome: Outcome): Promise<RegistrationRow | null> {
  const [row] = await tx
    .update(mandateRegistrations)
    .set(outcome)
    .where(and(eq(mandateRegistrations.registrationId, registrationId), eq(mandateRegistrations.status, "submitted")))
    .returning();
  return row ?? null;
}

type Of = { readonly mandateId: string; readonly chain?: string; readonly registry?: string };

const LIST_MAX = 50;

export const registrationsOf = (db: Database | Tx, { mandateId, chain, registry }: Of): Promise<RegistrationRow[]> =>
  db
    .select()
    .from(mandateRegistrations)
    .where(
      and(
        eq(mandateRegistrations.mandateId, mandateId),
        chain === undefined ? undefined : eq(mandateRegistrations.chain, chain),
        registry === undefined ? undefined : eq(mandateRegistrations.registry, registry),
      ),
    )
    .orderBy(desc(mandateRegistrations.registrationId))
    .limit(LIST_MAX);

export async function takenNonceSlots(db: Database | Tx, registrationId: string, period: number) {
  const [row] = await db
    .select({ payments: count(), amount: sum(registrationSlots.amount) })
    .from(registrationSlots)
    .where(
      and(
        eq(registrationSlots.registrationId, registrationId),
        eq(registrationSlots.period, period),
        ne(registrationSlots.status, "free"),
      ),
    );
  return { payments: row?.payments ?? 0, amount: BigInt(row?.amount ?? 0) };
}
