import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import type { Policy } from "#lib/mandates/policy-schema.ts";
import { mandateVersions } from "#lib/mandates/tables.ts";
import { authorizationColumns } from "#lib/holds/authorization-store.ts";
import { authorizations, changedReservations, executions } from "#lib/holds/tables.ts";
import { sellers } from "#lib/sellers/tables.ts";

/** To find reserved amounts whose payment was not sent, this many of a mandate's newest authorizations are searched. */
const WALKED = 5_000;
const SUBMITTED_MAX = 200;
/**
 * After this time, every reserved amount has been paid or has expired. A request waits for a person for at most 24 hours, an
 * approval lasts an hour longer, and an order that uses it at its end has 15 more minutes to pay.
 */
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

/** Finds those of the given sellers that have proved that they control their domains. */
export async function verifiedAmong(tx: Tx, sellerIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (sellerIds.length === 0) return new Set();
  const rows = await tx
    .select({ sellerId: sellers.sellerId })
    .from(sellers)
    .where(and(inArray(sellers.sellerId, [...new Set(sellerIds)]), sellers.verified));
  return new Set(rows.map(({ sellerId }) => sellerId));
}

/**
 * Reads those of the mandate's newest authorizations (WALKED) whose hold (reserved amount) was not submitted and has not
 * expired, newest first. Call lockMandate first, so that no other transaction changes a hold.
 */
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

/**
 * Whether the mandate may have reserved amounts that `heldUnder` does not find, because they are older than its newest 5,000
 * authorizations.
 */
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

/** Reads at most 200 authorizations whose signed payment was sent and whose outcome is not final, newest first. */
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
