import { and, desc, eq, getTableColumns, gt, inArray, isNull, lt } from "drizzle-orm";
import { clock } from "#lib/audit/store.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { serviceAccounts } from "#lib/identity/tables.ts";
import type { Policy } from "#lib/mandates/policy-schema.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import { mandateLedger, mandates, mandateVersions, usageBuckets } from "#lib/mandates/tables.ts";
import type { Atomic } from "#lib/money.ts";
import type { StoredMandateStatus } from "#lib/vocabulary.ts";

export type { Scope };

/** Runs reads in one snapshot, with the database's time. */
export const reading = <T>(work: (tx: Tx, now: Date) => Promise<T>): Promise<T> =>
  database().transaction(async (tx) => work(tx, await clock(tx)), { isolationLevel: "repeatable read", accessMode: "read only" });

export const mandateColumns = { ...getTableColumns(mandates), policy: mandateVersions.policy };
export const currentVersion = and(
  eq(mandateVersions.mandateId, mandates.mandateId),
  eq(mandateVersions.version, mandates.version),
);

export async function findMandate(tx: Tx, scope: Scope, mandateId: string): Promise<MandateRow | null> {
  const [row] = await tx
    .select(mandateColumns)
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(and(within(mandates, scope), eq(mandates.mandateId, mandateId)));
  return row ?? null;
}

/** Locking the mandate's row locks its budget. The version is read after the lock. */
export async function lockMandate(tx: Tx, scope: Scope, mandateId: string): Promise<MandateRow | null> {
  const locked = await tx
    .select({ mandateId: mandates.mandateId })
    .from(mandates)
    .where(and(within(mandates, scope), eq(mandates.mandateId, mandateId)))
    .for("no key update");
  return locked.length === 0 ? null : findMandate(tx, scope, mandateId);
}

/** Newest first; ids sort by creation. */
export const selectMandates = (tx: Tx, scope: Scope, limit: number, before: string | null): Promise<MandateRow[]> =>
  tx
    .select(mandateColumns)
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(and(within(mandates, scope), before === null ? undefined : lt(mandates.mandateId, before)))
    .orderBy(desc(mandates.mandateId))
    .limit(limit);

export const liveBuckets = (tx: Tx, mandateIds: readonly string[], now: Date) =>
  tx
    .select()
    .from(usageBuckets)
    .where(and(inArray(usageBuckets.mandateId, [...mandateIds]), gt(usageBuckets.liveUntil, now)));

type Terms = {
  readonly name: string;
  readonly agents: readonly string[] | null;
  readonly wallet: { readonly chain: string; readonly address: string } | null;
};

type NewMandate = Scope &
  Terms & {
    readonly mandateId: string;
    readonly policy: Policy;
    readonly asset: string;
    readonly chain: string;
    readonly metadata: Record<string, unknown> | null;
    readonly ceiling: Atomic | null;
    readonly createdBy: string;
    readonly now: Date;
  };

const termsRow = ({ name, agents, wallet }: Terms) => ({
  name,
  agents: agents === null ? null : [...agents],
  walletChain: wallet?.chain ?? null,
  walletAddress: wallet?.address ?? null,
});

export async function insertMandate(tx: Tx, mandate: NewMandate): Promise<void> {
  const { mandateId, organizationId, environment, asset, chain, metadata, ceiling, createdBy, now } = mandate;
  const born = { createdBy, createdAt: now };
  const facts = { mandateId, organizationId, environment, asset, chain, metadata, ceiling };
  await tx.insert(mandates).values({ ...facts, ...termsRow(mandate), status: "draft", version: 1, ...born, updatedAt: now });
  await tx.insert(mandateVersions).values({ mandateId, version: 1, policy: mandate.policy, ...born });
}

type NewVersion = Terms & {
  readonly version: number;
  readonly policy: Policy;
  readonly ceiling: Atomic | null;
  readonly createdBy: string;
  readonly now: Date;
};

/** Needs the mandate's lock. */
export async function saveVersion(tx: Tx, mandateId: string, next: NewVersion): Promise<void> {
  const { version, policy, ceiling, createdBy, now } = next;
  await tx.insert(mandateVersions).values({ mandateId, version, policy, createdBy, createdAt: now });
  await tx
    .update(mandates)
    .set({ ...termsRow(next), version, ceiling, updatedAt: now })
    .where(eq(mandates.mandateId, mandateId));
}

export async function setStatus(tx: Tx, mandateId: string, status: StoredMandateStatus, now: Date): Promise<void> {
  await tx.update(mandates).set({ status, updatedAt: now }).where(eq(mandates.mandateId, mandateId));
}

/** The given ids that are not live service accounts of the organization. */
export async function unknownAgents(tx: Tx, scope: Scope, agents: readonly string[]): Promise<Set<string>> {
  if (agents.length === 0) return new Set();
  const known = await tx
    .select({ id: serviceAccounts.serviceAccountId })
    .from(serviceAccounts)
    .where(
      and(
        within(serviceAccounts, scope),
        inArray(serviceAccounts.serviceAccountId, [...agents]),
        isNull(serviceAccounts.revokedAt),
      ),
    );
  const ids = new Set(known.map(({ id }) => id));
  return new Set(agents.filter((agent) => !ids.has(agent)));
}

/** Newest first; ids sort by creation. */
export const selectLedger = (tx: Tx, mandateId: string, limit: number, before: string | null) =>
  tx
    .select()
    .from(mandateLedger)
    .where(and(eq(mandateLedger.mandateId, mandateId), before === null ? undefined : lt(mandateLedger.ledgerId, before)))
    .orderBy(desc(mandateLedger.ledgerId))
    .limit(limit);
