import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import type { FeeRow, SubscriptionRow } from "#lib/billing/store.ts";
import { fees, monthlyVolumes, subscriptions } from "#lib/billing/tables.ts";
import { database } from "#lib/db/client.ts";

/** `month` is a UTC month such as 2026-11. */
const startOf = (month: string) => sql`(${`${month}-01`}::date::timestamp AT TIME ZONE 'UTC')`;
const endOf = (month: string) => sql`((${`${month}-01`}::date + interval '1 month') AT TIME ZONE 'UTC')`;

export type MonthSum = {
  readonly month: string;
  readonly chain: string;
  readonly asset: string;
  readonly side: string;
  readonly amount: string;
  readonly count: number;
};

/** Sums the fees of the last twelve UTC months, including the current one, newest first. */
export async function sumMonths(organizationId: string): Promise<MonthSum[]> {
  const rows = await database().execute<MonthSum>(sql`
    SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, chain, asset, side, sum(amount)::text AS amount, count(*)::int AS count
    FROM fees
    WHERE organization_id = ${organizationId}
      AND created_at >= (SELECT date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') - interval '11 months') AT TIME ZONE 'UTC'
    GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 2, 3, 4`);
  return [...rows];
}

export async function thisMonth(): Promise<string> {
  const [row] = await database().execute<{ month: string }>(
    sql`SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM') AS month`,
  );
  return row!.month;
}

export const selectMonth = (organizationId: string, month: string, place: string | null, rows: number): Promise<FeeRow[]> =>
  database()
    .select()
    .from(fees)
    .where(
      and(
        eq(fees.organizationId, organizationId),
        gte(fees.createdAt, startOf(month)),
        lt(fees.createdAt, endOf(month)),
        place === null ? undefined : lt(fees.feeId, place),
      ),
    )
    .orderBy(desc(fees.feeId))
    .limit(rows);

export const selectVolumes = (organizationId: string, month: string) =>
  database()
    .select()
    .from(monthlyVolumes)
    .where(and(eq(monthlyVolumes.organizationId, organizationId), eq(monthlyVolumes.month, month)));

export async function findSubscription(organizationId: string): Promise<SubscriptionRow | null> {
  const [row] = await database().select().from(subscriptions).where(eq(subscriptions.organizationId, organizationId));
  return row ?? null;
}
