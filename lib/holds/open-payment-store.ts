import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { mandateVersions } from "#lib/mandates/tables.ts";
import { authorizationColumns } from "#lib/holds/authorization-store.ts";
import { authorizations, changedReservations, executions } from "#lib/holds/tables.ts";
import { sellers } from "#lib/sellers/tables.ts";

/** To find reserved amounts whose payment was not sent, this many of a mandate's newest authorizations are searched. */
const WALKED = 5_000;
const SUBMITTED_MAX = 200;
/** A request waits at most 24 hours for a person, an approval lasts an hour longer, and an order then has 15 minutes to pay. */
const HELD = sql`interval '26 hours'`;

type Mandate = { readonly mandateId: string; readonly organizationId: string };

export async function policyOfVersion(tx: Tx, mandateId: string, version: number): Promise<Policy> {
  const [row] = await tx
    .select({ policy: mandateVersions.policy })
    .from(mandateVersions)
    .where(and(eq(mandateVersions.mandateId, mandateId), eq(mandateVersions.version, version)));
  if (!row) throw new Error(`No policy ${version} of ${mandateId}.`);
  return row.policy;
}

export async function verifiedAmong(tx: Tx, sellerIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (sellerIds.length === 0) return new Set();
  const rows = await tx
    .select({ sellerId: sellers.sellerId })
    .from(sellers)
    .where(and(inArray(sellers.sellerId, [...new Set(sellerIds)]), sellers.verified));
  return new Set(rows.map(({ sellerId }) => sellerId));
}

/** Searches only the newest authorizations (WALKED). Call lockMandate first, so that no other transaction changes a hold. */
export async function heldUnder(tx: Tx, { mandateId }: Mandate) {
  const { authorizationId } = authorizations;
  const changed = changedReservations;
  const newest = tx
    .select({ authorizationId, held: authorizations.held, expiresAt: authorizations.expiresAt })
    .from(authorizations)
    .where(eq(authorizations.mandateId, mandateId))
    .orderBy(desc(authorizationId))
    .limit(WALKED)
    .as("newest");
  const held = tx
    .select({ id: newest.authorizationId })
    .from(newest)
    .leftJoin(changed, eq(changed.authorizationId, newest.authorizationId))
    .where(
      and(
        newest.held,
        sql`coalesce(${changed.status}, 'held') = 'held'`,
        sql`coalesce(${changed.expiresAt}, ${newest.expiresAt}) > clock_timestamp()`,
      ),
    );
  return tx
    .select(authorizationColumns)
    .from(authorizations)
    .where(inArray(authorizationId, held))
    .orderBy(desc(authorizationId));
}

/** Whether amounts may be reserved by authorizations older than the newest 5,000, so that `heldUnder` does not find them. */
export async function mayHoldMore(tx: Tx, { mandateId }: Mandate): Promise<boolean> {
  const [last] = await tx
    .select({ isNew: sql<boolean>`${authorizations.createdAt} > clock_timestamp() - ${HELD}` })
    .from(authorizations)
    .where(eq(authorizations.mandateId, mandateId))
    .orderBy(desc(authorizations.authorizationId))
    .offset(WALKED)
    .limit(1);
  return last?.isNew ?? false;
}

export async function submittedUnder(tx: Tx, { mandateId, organizationId }: Mandate) {
  return tx
    .select(authorizationColumns)
    .from(executions)
    .innerJoin(authorizations, eq(authorizations.authorizationId, executions.authorizationId))
    .where(
      and(
        eq(executions.organizationId, organizationId),
        inArray(executions.settlementStatus, ["pending", "processing", "unknown"]),
        eq(executions.mandateId, mandateId),
      ),
    )
    .orderBy(desc(executions.authorizationId))
    .limit(SUBMITTED_MAX);
}
