import { UNIT_CHAIN, UNIT_DECIMALS } from "#lib/money.ts";
import { and, desc, eq, ilike, inArray, lt, lte, not, or, sql, type SQL } from "drizzle-orm";
import { auditEvents } from "#lib/audit/tables.ts";
import type { Tx } from "#lib/db/client.ts";
import { contains } from "#lib/db/like.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { env } from "#lib/env.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import { currentVersion, mandateColumns } from "#lib/mandates/store.ts";
import { mandates, mandateVersions } from "#lib/mandates/tables.ts";
import type { MandateStatus } from "#lib/vocabulary.ts";

/** Atomic units in one unit of what the mandate's limits are in. */
function unitOf(): SQL {
  const coins = env().CHAINS.flatMap(({ chain, assets }) => assets.map((asset) => ({ chain, ...asset })));
  const cases = coins.map(
    ({ chain, asset, tokenDecimals }) =>
      sql`WHEN ${mandates.chain} = ${chain} AND ${mandates.asset} = ${asset} THEN ${`1e${tokenDecimals}`}::numeric`,
  );
  return sql`CASE WHEN starts_with(${mandates.chain}, ${UNIT_CHAIN}) THEN ${`1e${UNIT_DECIMALS}`}::numeric ${sql.join(cases, sql` `)} END`;
}

/** Must give the same result as statusOf in mandates/policy/status.ts. */
function hasStatus(status: MandateStatus, now: Date): SQL | undefined {
  const active = eq(mandates.status, "active");
  const over = lte(sql`(${mandateVersions.policy}->>'validUntil')::timestamptz`, now.toISOString());
  const used = sql`${mandates.spent} + ${mandates.reserved} >= (${mandateVersions.policy}#>>'{limits,total}')::numeric * ${unitOf()}`;
  const isOver = sql`coalesce(${over}, false)`;
  const isUsed = sql`coalesce(${used}, false)`;
  if (status === "expired") return and(active, isOver);
  if (status === "exhausted") return and(active, not(isOver), isUsed);
  if (status === "active") return and(active, not(isOver), not(isUsed));
  return eq(mandates.status, status);
}

export type MandateFilter = {
  readonly status?: MandateStatus | undefined;
  /** A part of the name, or an id. */
  readonly search?: string | undefined;
};

export const filterMandates = (
  tx: Tx,
  scope: Scope,
  { status, search }: MandateFilter,
  { now, limit, place }: { readonly now: Date; readonly limit: number; readonly place: string | null },
): Promise<MandateRow[]> =>
  tx
    .select(mandateColumns)
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(
      and(
        within(mandates, scope),
        status === undefined ? undefined : hasStatus(status, now),
        search === undefined ? undefined : or(ilike(mandates.name, contains(search)), eq(mandates.mandateId, search)),
        place === null ? undefined : lt(mandates.mandateId, place),
      ),
    )
    .orderBy(desc(mandates.mandateId))
    .limit(limit);

/** Mandates stored as active (also expired or exhausted ones), then suspended ones, then drafts, each newest first. */
export const liveMandates = (tx: Tx, scope: Scope, limit: number): Promise<MandateRow[]> =>
  tx
    .select(mandateColumns)
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(and(within(mandates, scope), inArray(mandates.status, ["active", "suspended", "draft"])))
    .orderBy(sql`array_position(ARRAY['active', 'suspended', 'draft'], ${mandates.status})`, desc(mandates.mandateId))
    .limit(limit);

/** The caller must have checked the mandate's organization. */
export const selectVersions = (tx: Tx, mandateId: string, limit: number) =>
  tx
    .select()
    .from(mandateVersions)
    .where(eq(mandateVersions.mandateId, mandateId))
    .orderBy(desc(mandateVersions.version))
    .limit(limit);

export const selectSteps = (tx: Tx, { organizationId }: Scope, mandateId: string, limit: number) =>
  tx
    .select()
    .from(auditEvents)
    .where(and(eq(auditEvents.entityId, mandateId), eq(auditEvents.chain, organizationId)))
    .orderBy(desc(auditEvents.sequence))
    .limit(limit);
