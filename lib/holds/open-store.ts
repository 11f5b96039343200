import { and, desc, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import type { Policy } from "#lib/mandates/policy-schema.ts";
import { mandateVersions } from "#lib/mandates/tables.ts";
import { authorizations, executions, reservations } from "#lib/holds/tables.ts";
import { sellers } from "#lib/sellers/tables.ts";

/** As many of a mandate's newest payments are looked through for open ones. */
const WALKED = 5_000;
const SUBMITTED_MAX = 200;
/** Nothing is held for longer than this before it is submitted. */
const HELD = sql`interval '35 minutes'`;

type Mandate = { readonly mandateId: string; readonly organizationId: string };

export async function policyOfVersion(tx: Tx, mandateId: string, version: number): Promise<Policy> {
  const [row] = await tx
    .select({ policy: mandateVersions.policy })
    .from(mandateVersions)
    .where(and(eq(mandateVersions.mandateId, mandateId), eq(mandateVersions.version, version)));
  if (!row) throw new Error(`No policy ${version} of ${mandateId}.`);
  return row.policy;
}

/** Which of these sellers have verified their domains. */
export async function verifiedAmong(tx: Tx, sellerIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (sellerIds.length === 0) return new Set();
  const rows = await tx
    .select({ sellerId: sellers.sellerId })
    .from(sellers)
    .where(and(inArray(sellers.sellerId, [...new Set(sellerIds)]), sellers.verified));
  return new Set(rows.map(({ sellerId }) => sellerId));
}

/** What is held for payments that were not submitted, the newest first. Needs the mandate's lock. */
export async function heldUnder(tx: Tx, { mandateId }: Mandate) {
  const newest = tx
    .select(getTableColumns(authorizations))
    .from(authorizations)
    .where(eq(authorizations.mandateId, mandateId))
    .orderBy(desc(authorizations.authorizationId))
    .limit(WALKED)
    .as("newest");
  return tx
    .select({ ...newest._.selectedFields, reservationId: reservations.reservationId })
    .from(newest)
    .innerJoin(reservations, eq(reservations.reservationId, newest.reservationId))
    .where(and(eq(reservations.status, "held"), sql`${reservations.expiresAt} > clock_timestamp()`));
}

/** Whether a mandate has so many new payments that some that are held may have been left out. */
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

/** Payments whose credential went out and whose end is open. */
export async function submittedUnder(tx: Tx, { mandateId, organizationId }: Mandate) {
  return tx
    .select(getTableColumns(authorizations))
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
