import { and, desc, eq, getTableColumns, gt, inArray, lt, sql } from "drizzle-orm";
import { clock } from "#lib/audit/store.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { ofOwnMandates, within, type Reader, type Scope } from "#lib/db/scope.ts";
import { serviceAccounts } from "#lib/identity/tables.ts";
import { isLive } from "#lib/identity/live-store.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import { mandates, mandateVersions, usageBuckets } from "#lib/mandates/tables.ts";
import { idUnder } from "#lib/ids.ts";
import type { Atomic } from "#lib/money.ts";
import type { LedgerKind, StoredMandateStatus } from "#lib/vocabulary.ts";

export type { Scope };

/** All reads of `work` see one snapshot; `now` is the database's time. */
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

/** This lock also guards the mandate's budget and holds; the version is read after it, so it is the current one. */
export async function lockOwnMandate(tx: Tx, scope: Scope, mandateId: string): Promise<MandateRow | null> {
  const locked = await tx
    .select({ mandateId: mandates.mandateId })
    .from(mandates)
    .where(and(within(mandates, scope), eq(mandates.mandateId, mandateId)))
    .for("no key update");
  return locked.length === 0 ? null : findMandate(tx, scope, mandateId);
}

/** Newest first, by id; `before` is the last id of the previous page. */
export const selectMandates = (tx: Tx, reader: Reader, limit: number, before: string | null): Promise<MandateRow[]> =>
  tx
    .select(mandateColumns)
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(
      and(
        within(mandates, reader),
        before === null ? undefined : lt(mandates.mandateId, before),
        ofOwnMandates(mandates.mandateId, reader),
      ),
    )
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

/** Call lockOwnMandate before, or one of two requests at the same time fails. */
export async function saveVersion(tx: Tx, mandateId: string, next: NewVersion): Promise<void> {
  const { version, policy, ceiling, createdBy, now } = next;
  await tx.insert(mandateVersions).values({ mandateId, version, policy, createdBy, createdAt: now });
  await tx
    .update(mandates)
    .set({ ...termsRow(next), version, ceiling, updatedAt: now })
    .where(eq(mandates.mandateId, mandateId));
}

export async function setMandateStatus(tx: Tx, mandateId: string, status: StoredMandateStatus, now: Date): Promise<void> {
  await tx.update(mandates).set({ status, updatedAt: now }).where(eq(mandates.mandateId, mandateId));
}

export async function unknownAgents(tx: Tx, scope: Scope, agents: readonly string[]): Promise<Set<string>> {
  if (agents.length === 0) return new Set();
  const known = await tx
    .select({ id: serviceAccounts.serviceAccountId })
    .from(serviceAccounts)
    .where(and(within(serviceAccounts, scope), inArray(serviceAccounts.serviceAccountId, [...agents]), isLive.account));
  const ids = new Set(known.map(({ id }) => id));
  return new Set(agents.filter((agent) => !ids.has(agent)));
}

type LedgerRow = {
  readonly ledgerId: string;
  readonly mandateId: string;
  readonly authorizationId: string;
  readonly kind: LedgerKind;
  readonly amount: bigint;
  readonly createdAt: Date;
};

/** Newest first; reads two tables by their own indexes, because the view mandate_ledger cannot use one for the order of ids. */
export async function selectLedger(tx: Tx, mandateId: string, limit: number, before: string | null): Promise<LedgerRow[]> {
  const end = (kind: "ledger" | "authorization") =>
    before === null ? sql`` : sql`AND ${sql.identifier(`${kind}_id`)} < ${idUnder(kind, before)}`;
  const rows = await tx.execute(sql`
    SELECT * FROM (
      (SELECT ledger_id, mandate_id, authorization_id, kind, amount, created_at FROM resolutions
        WHERE mandate_id = ${mandateId} ${end("ledger")} ORDER BY ledger_id DESC LIMIT ${limit})
      UNION ALL
      (SELECT 'led' || substr(authorization_id, 4), mandate_id, authorization_id, 'hold', coalesce(unit_amount, amount + buyer_share), created_at FROM authorizations
        WHERE mandate_id = ${mandateId} AND held ${end("authorization")} ORDER BY authorization_id DESC LIMIT ${limit})) AS entries
    ORDER BY ledger_id DESC LIMIT ${limit}`);
  return rows.map((row) => ({
    ledgerId: row["ledger_id"] as string,
    mandateId: row["mandate_id"] as string,
    authorizationId: row["authorization_id"] as string,
    kind: row["kind"] as LedgerKind,
    amount: BigInt(row["amount"] as string),
    createdAt: new Date(row["created_at"] as string),
  }));
}
