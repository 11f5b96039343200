import { sql } from "drizzle-orm";
import { alerts } from "#lib/alerts/tables.ts";
import { orders } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { bringForward, type DueTime } from "#lib/db/leases.ts";
import { executions } from "#lib/holds/tables.ts";
import { rateLimit } from "#lib/identity/tables.ts";
import { mails } from "#lib/mail/tables.ts";
import { notices } from "#lib/notices/tables.ts";
import { mandateRegistrations, relayedTransactions } from "#lib/onchain/tables.ts";
import { pushes } from "#lib/push/tables.ts";
import { CHECKS_A_DAY } from "#lib/payments/executions/resolve-execution.ts";
import { leaseMs } from "#lib/settlement/limits.ts";
import { settlementTransactions } from "#lib/settlement/tables.ts";
import { minutes } from "#lib/time.ts";
import { PAUSES } from "#lib/webhooks/attempt.ts";
import { LEASE_MS } from "#lib/webhooks/limits.ts";
import { webhookDeliveries } from "#lib/webhooks/tables.ts";

/** With each column, at least the longest time ahead of now at which any code sets it. */
const dueTimes = (): readonly DueTime[] => [
  {
    column: executions.nextCheckAt,
    where: sql`next_check_at IS NOT NULL`,
    // nextCheck waits a share of the payment's age, because a payment may be valid for years.
    longest: sql`greatest(${Math.max(leaseMs(), minutes(1))}::float8, extract(epoch FROM clock_timestamp() - created_at) * 1000 / ${CHECKS_A_DAY}::float8)`,
  },
  { column: orders.nextCheckAt, where: sql`next_check_at IS NOT NULL`, longest: minutes(15) },
  { column: relayedTransactions.nextCheckAt, where: sql`status IN ('queued', 'sent')`, longest: minutes(1) },
  { column: mandateRegistrations.nextCheckAt, where: sql`status = 'submitted'`, longest: minutes(1) },
  { column: settlementTransactions.nextCheckAt, where: sql`status = 'sent'`, longest: minutes(1) },
  { column: mails.nextAttemptAt, where: sql`status = 'queued'`, longest: minutes(60) },
  { column: pushes.nextAttemptAt, where: sql`status = 'queued'`, longest: minutes(2) },
  { column: alerts.dueAt, where: sql`status = 'waiting'`, longest: minutes(10) },
  // Reminders are due at times that follow from the request; only its first notice is due at once.
  { column: notices.dueAt, where: sql`status = 'waiting' AND kind = 'opened'`, longest: minutes(1) },
  {
    column: webhookDeliveries.nextAttemptAt,
    where: sql`status = 'pending'`,
    longest: sql`greatest(${LEASE_MS}, (string_to_array(${PAUSES.join(",")}, ',')::float8[])[attempts])`,
  },
];

/** Ends what a clock that ran ahead has left: due times that are too late, and counts of attempts that would never end. */
export async function bringAllForward(): Promise<number> {
  let moved = 0;
  for (const dueTime of dueTimes()) moved += await bringForward(dueTime);
  // better-auth counts by the clock of its process, which may be a little ahead of the database's.
  const ahead = sql`(extract(epoch FROM clock_timestamp()) * 1000 + ${minutes(15)}::bigint)`;
  return moved + (await database().execute(sql`DELETE FROM ${rateLimit} WHERE last_request > ${ahead} RETURNING 1`)).length;
}
