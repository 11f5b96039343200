import { and, eq, isNull, ne, sql, type SQL } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { database } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { isLive } from "#lib/identity/live-store.ts";
import { serviceAccounts } from "#lib/identity/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { authorizations, executions } from "#lib/holds/tables.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";
import type { Progress } from "#lib/pages/settings/progress.ts";

const settled = (scope: Scope) => and(within(executions, scope), eq(executions.settlementStatus, "settled"));
const asked = (scope: Scope) => and(within(authorizations, scope), eq(authorizations.outcome, "requireApproval"));

const any = (table: PgTable, condition: SQL | undefined) => sql<boolean>`EXISTS (SELECT FROM ${table} WHERE ${condition})`;

/** For each check there is an index that begins with the organization. */
export async function readProgress(scope: Scope): Promise<Progress> {
  const [row] = await database().execute<Progress>(sql`SELECT
    ${any(serviceAccounts, and(within(serviceAccounts, scope), isLive.account))} AS key,
    ${any(mandates, within(mandates, scope))} AS mandate,
    ${any(mandates, and(within(mandates, scope), ne(mandates.status, "draft")))} AS activation,
    ${any(authorizations, and(within(authorizations, scope), ne(authorizations.outcome, "deny")))} AS "authorization",
    ${any(executions, settled(scope))} AS payment,
    EXISTS (SELECT FROM ${authorizations} JOIN ${executions} USING (authorization_id)
      WHERE ${asked(scope)} AND ${eq(executions.settlementStatus, "settled")}) AS approval,
    ${any(sellers, within(sellers, scope))} AS seller,
    ${any(resources, and(eq(resources.organizationId, scope.organizationId), isNull(resources.archivedAt)))} AS resource`);
  if (!row) throw new Error("A query without a table answers one row.");
  return row;
}
