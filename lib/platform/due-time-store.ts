import { sql } from "drizzle-orm";
import { alertBox } from "#lib/alerts/alert-store.ts";
import { orders } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { bringForward, type DueTime } from "#lib/db/leases.ts";
import { executions } from "#lib/holds/tables.ts";
import { rateLimit } from "#lib/identity/tables.ts";
import { mailbox } from "#lib/mail/store.ts";
import { noticeBox } from "#lib/notices/outbox-store.ts";
import { mandateRegistrations, relayedTransactions } from "#lib/onchain/tables.ts";
import { dueTimeOf } from "#lib/outbox/store.ts";
import { pushbox } from "#lib/push/store.ts";
import { CHECKS_A_DAY } from "#lib/payments/executions/resolve-execution.ts";
import { leaseMs } from "#lib/settlement/limits.ts";
import { settlementTransactions } from "#lib/settlement/tables.ts";
import { minutes } from "#lib/time.ts";
import { deliveries } from "#lib/webhooks/outbox-store.ts";

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
  ...[mailbox, pushbox, alertBox, noticeBox, deliveries].map(dueTimeOf),
];

/** Ends what a clock that ran ahead has left: due times that are too late, and counts of attempts that would never end. */
export async function bringAllForward(): Promise<number> {
  let moved = 0;
  for (const dueTime of dueTimes()) moved += await bringForward(dueTime);
  // better-auth counts by the clock of its process, which may be a little ahead of the database's.
  const ahead = sql`(extract(epoch FROM statement_timestamp()) * 1000 + ${minutes(15)}::bigint)`;
  return moved + (await database().execute(sql`DELETE FROM ${rateLimit} WHERE last_request > ${ahead} RETURNING 1`)).length;
}
