import { and, arrayContains, count, desc, eq, getTableColumns, isNull } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import type { Scope } from "#lib/mandates/store.ts";
import { mandates, mandateVersions } from "#lib/mandates/tables.ts";

const owned = ({ organizationId, environment }: Scope) =>
  and(eq(mandates.organizationId, organizationId), eq(mandates.environment, environment));

/** The mandates that name this agent, newest first. */
export const mandatesNaming = (scope: Scope, serviceAccountId: string, rows: number): Promise<MandateRow[]> =>
  database()
    .select({ ...getTableColumns(mandates), policy: mandateVersions.policy })
    .from(mandates)
    .innerJoin(
      mandateVersions,
      and(eq(mandateVersions.mandateId, mandates.mandateId), eq(mandateVersions.version, mandates.version)),
    )
    .where(and(owned(scope), arrayContains(mandates.agents, [serviceAccountId])))
    .orderBy(desc(mandates.mandateId))
    .limit(rows);

/** The number of active mandates that every agent of the organization may use. */
export async function countOpenMandates(scope: Scope): Promise<number> {
  const [row] = await database()
    .select({ count: count() })
    .from(mandates)
    .where(and(owned(scope), eq(mandates.status, "active"), isNull(mandates.agents)));
  return row?.count ?? 0;
}
