import { and, eq, isNull, ne, sql, type SQL } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { database } from "#lib/db/client.ts";
import { serviceAccounts } from "#lib/identity/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";
import type { Progress } from "#lib/pages/progress.ts";

type Scope = { readonly organizationId: string; readonly environment: string };

const any = (table: PgTable, condition: SQL | undefined) => sql<boolean>`EXISTS (SELECT FROM ${table} WHERE ${condition})`;

/** Whether the organization has at least one of each object. Each check is one lookup in an index by organization. */
export async function readProgress({ organizationId, environment }: Scope): Promise<Progress> {
  const of = (table: typeof mandates | typeof sellers | typeof serviceAccounts | typeof authorizations) =>
    and(eq(table.organizationId, organizationId), eq(table.environment, environment));
  const [row] = await database().execute<Progress>(sql`SELECT
    ${any(serviceAccounts, and(of(serviceAccounts), isNull(serviceAccounts.revokedAt)))} AS key,
    ${any(mandates, of(mandates))} AS mandate,
    ${any(mandates, and(of(mandates), ne(mandates.status, "draft")))} AS activation,
    ${any(authorizations, of(authorizations))} AS "authorization",
    ${any(sellers, of(sellers))} AS seller,
    ${any(resources, and(eq(resources.organizationId, organizationId), isNull(resources.archivedAt)))} AS resource`);
  if (!row) throw new Error("A query without a table answers one row.");
  return row;
}
