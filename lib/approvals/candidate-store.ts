import { and, asc, desc, eq, inArray, or, sql, type Column } from "drizzle-orm";
import { owned } from "#lib/approvals/store.ts";
import { checkoutApprovals, checkoutIntents } from "#lib/approvals/tables.ts";
import type { Database } from "#lib/db/client.ts";
import type { Reader } from "#lib/db/scope.ts";
import { wholeIntent } from "#lib/holds/authorization-store.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { serviceAccounts } from "#lib/identity/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";

const CANDIDATES_MAX = 20;

/** The fields are values, or columns of the table of checkouts. */
type Payable = Record<"organizationId" | "environment" | "asset" | "chain" | "ownerSubjectId", string | Column> & {
  readonly mandateId: string | Column | null;
};

/**
 * The mandates that the checkout names or the person chose come first, whatever their status and asset.
 * An agent that a person restricted to some mandates gets no others.
 */
function candidatesOf(db: Database, payable: Payable, chosen: string | null) {
  const { organizationId, environment, asset, chain, mandateId, ownerSubjectId } = payable;
  const named = sql`(${mandates.mandateId} IS NOT DISTINCT FROM ${mandateId} OR ${mandates.mandateId} IS NOT DISTINCT FROM ${chosen})`;
  const live = and(eq(mandates.asset, asset), eq(mandates.chain, chain), inArray(mandates.status, ["active", "suspended"]));
  const chosenForAgent = sql`NOT EXISTS (SELECT FROM ${serviceAccounts} a
    WHERE a.service_account_id = ${ownerSubjectId} AND NOT ${mandates.mandateId} = ANY(a.mandate_ids))`;
  const rows = db
    .select({ mandateId: sql<string>`${mandates.mandateId}`.as("mandateId"), name: mandates.name })
    .from(mandates)
    .where(
      and(eq(mandates.organizationId, organizationId), eq(mandates.environment, environment), or(live, named), chosenForAgent),
    )
    .orderBy(desc(named), asc(mandates.status), desc(mandates.mandateId))
    .limit(CANDIDATES_MAX);
  return sql<Candidates["mandates"]>`(SELECT coalesce(json_agg(c), '[]') FROM ${rows} c)`;
}

export type Candidates = {
  readonly mandates: readonly { readonly mandateId: string; readonly name: string }[];
  readonly now: Date;
};

const clock = sql`clock_timestamp()`.mapWith((text: string) => new Date(text));

export async function findCandidates(db: Database, payable: Payable): Promise<Candidates> {
  const found = candidatesOf(db, payable, null);
  const [row] = await db.execute<{ mandates: Candidates["mandates"]; now: string }>(
    sql`SELECT ${found} AS mandates, clock_timestamp() AS now`,
  );
  return { mandates: row!.mandates, now: new Date(row!.now) };
}

/** Null if there is no checkout that the reader may see. */
export async function findWithCandidates(db: Database, scope: Reader, checkoutIntentId: string, chosen: string | null) {
  const [row] = await db
    .select({
      checkout: checkoutIntents,
      approval: checkoutApprovals,
      authorization: { outcome: authorizations.outcome, intent: wholeIntent },
      mandates: candidatesOf(db, checkoutIntents, chosen),
      now: clock,
    })
    .from(checkoutIntents)
    .leftJoin(checkoutApprovals, eq(checkoutApprovals.checkoutIntentId, checkoutIntents.checkoutIntentId))
    .leftJoin(authorizations, eq(authorizations.authorizationId, checkoutIntents.authorizationId))
    .where(owned(scope, checkoutIntentId));
  return row ?? null;
}
