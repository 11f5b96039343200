import { sql, type SQL } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { changedReservations } from "#lib/holds/tables.ts";

type Changes = { readonly status?: string; readonly expiresAt?: Date | SQL; readonly resolvedAt?: Date };

/**
 * Changes stored holds (reserved amounts) without the checks of the service. `where` uses the columns of the view reservations.
 */
export async function setHolds(where: SQL, changes: Changes): Promise<void> {
  await database().execute(sql`
    INSERT INTO changed_reservations (authorization_id, organization_id, mandate_id, status, amount, approval_key, buckets, expires_at, created_at)
    SELECT authorization_id, organization_id, mandate_id, status, amount, approval_key, buckets, expires_at, created_at
    FROM reservations WHERE ${where} ON CONFLICT DO NOTHING`);
  await database().update(changedReservations).set(changes).where(where);
}

/**
 * Makes holds (reserved amounts) expire one second ago. A stored "now" is rounded to milliseconds and may be later than the
 * clock that the sweep reads.
 */
export const expireNow = (where: SQL): Promise<void> =>
  setHolds(where, { expiresAt: sql`statement_timestamp() - interval '1 second'` });

export const ofMandate = (mandateId: string): SQL => sql`mandate_id = ${mandateId}`;
export const ofAuthorization = (authorizationId: string): SQL => sql`authorization_id = ${authorizationId}`;
