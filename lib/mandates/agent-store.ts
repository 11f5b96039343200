import { and, arrayContains, count, desc, eq, inArray, isNull, or, sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import { currentVersion, mandateColumns } from "#lib/mandates/store.ts";
import { mandates, mandateVersions } from "#lib/mandates/tables.ts";

export const mandatesNaming = (scope: Scope, serviceAccountId: string, rows: number): Promise<MandateRow[]> =>
  database()
    .select(mandateColumns)
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(and(within(mandates, scope), arrayContains(mandates.agents, [serviceAccountId])))
    .orderBy(desc(mandates.mandateId))
    .limit(rows);

export async function countOpenMandates(scope: Scope): Promise<number> {
  const [row] = await database()
    .select({ count: count() })
    .from(mandates)
    .where(and(within(mandates, scope), eq(mandates.status, "active"), isNull(mandates.agents)));
  return row?.count ?? 0;
}

export const openMandates = (scope: Scope, rows: number) =>
  database()
    .select({ mandateId: mandates.mandateId, name: mandates.name })
    .from(mandates)
    .where(and(within(mandates, scope), eq(mandates.status, "active"), isNull(mandates.agents)))
    .orderBy(desc(mandates.mandateId))
    .limit(rows);

/** Mandates under which cards may pay, and those with the given ids whether cards may or not. The newest first. */
export const mandatesOfCards = (scope: Scope, ids: readonly string[], rows: number) => {
  const admits = sql<boolean>`${mandateVersions.policy}::jsonb -> 'rails' ? 'card' AND ${mandates.status} <> 'revoked'`;
  return database()
    .select({ mandateId: mandates.mandateId, name: mandates.name, admits: sql<boolean>`coalesce(${admits}, false)` })
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(and(within(mandates, scope), or(admits, inArray(mandates.mandateId, [...ids]))))
    .orderBy(desc(mandates.mandateId))
    .limit(rows);
};
