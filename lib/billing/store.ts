import { and, desc, eq, inArray, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { Row } from "postgres";
import type { Sql } from "#lib/db/sql.ts";
import { volumeKey, type FeeBasis } from "#lib/billing/fees.ts";
import { toScheduleFacts } from "#lib/billing/schedule-facts.ts";
import { feeQuotes, fees, feeSchedules, monthlyVolumes, subscriptions } from "#lib/billing/tables.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { organization } from "#lib/identity/tables.ts";
import { newId } from "#lib/ids.ts";
import { atomicOf, type Atomic } from "#lib/money.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";
import type { Environment } from "#lib/vocabulary.ts";

export type FeeScheduleRow = typeof feeSchedules.$inferSelect;
export type FeeRow = typeof fees.$inferSelect;
export type SubscriptionRow = typeof subscriptions.$inferSelect;

/** While a subscription has one of these statuses, its plan tier decides which fee schedules apply. */
const live = ["trialing", "active", "past_due"];

/** One prepared statement for batches of every size; joins start from the batch, so the plan stays fast in large tables. */
export const selectFeeBasis = (c: Sql, buyerOrganizationIds: readonly string[], sellerIds: readonly string[]) => c`
  WITH buyers AS MATERIALIZED (SELECT DISTINCT unnest(${buyerOrganizationIds}::text[]) AS id),
    payees AS MATERIALIZED (
      SELECT DISTINCT s.organization_id AS id FROM unnest(${sellerIds}::text[]) AS w(id),
        LATERAL (SELECT organization_id FROM sellers WHERE seller_id = w.id LIMIT 1) s)
  SELECT
    (SELECT json_agg(json_build_object('feeScheduleId', fee_schedule_id, 'status', status,
        'buyerOrganizationId', buyer_organization_id, 'sellerOrganizationId', seller_organization_id, 'planTier', plan_tier,
        'settlementMode', settlement_mode, 'chain', chain, 'asset', asset, 'feePayer', fee_payer, 'feeRecipient', fee_recipient,
        'percentageBps', percentage_bps, 'flatAmount', flat_amount, 'minimumFeeAmount', minimum_fee_amount,
        'maximumFeeAmount', maximum_fee_amount, 'includedMonthlyVolume', included_monthly_volume,
        'effectiveFrom', effective_from, 'effectiveUntil', effective_until))
      FROM (
        SELECT * FROM fee_schedules WHERE buyer_organization_id IS NULL AND seller_organization_id IS NULL
        UNION ALL
        SELECT f.* FROM buyers, LATERAL (SELECT * FROM fee_schedules WHERE buyer_organization_id = buyers.id OFFSET 0) f
        WHERE f.seller_organization_id IS NULL OR f.seller_organization_id IN (SELECT id FROM payees)
        UNION ALL
        SELECT f.* FROM payees, LATERAL (SELECT * FROM fee_schedules WHERE seller_organization_id = payees.id OFFSET 0) f
        WHERE f.buyer_organization_id IS NULL
      ) named
      WHERE status = 'active') AS schedules,
    (SELECT json_agg(json_build_object('organizationId', buyers.id, 'tier', s.tier))
      FROM buyers, LATERAL (SELECT tier, status FROM subscriptions WHERE organization_id = buyers.id LIMIT 1) s
      WHERE s.status = ANY(${live}::text[])) AS tiers,
    (SELECT json_agg(json_build_object('organizationId', buyers.id, 'chain', v.chain, 'asset', v.asset, 'gross', v.gross::text))
      FROM buyers, LATERAL (
        SELECT chain, asset, gross FROM monthly_volumes
        WHERE organization_id = buyers.id AND month = to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM') OFFSET 0) v) AS volumes`;

type Terms = Parameters<typeof toScheduleFacts>[0];
type ScheduleJson = Omit<Terms, "effectiveFrom" | "effectiveUntil"> & { effectiveFrom: string; effectiveUntil: string | null };
type Tier = { readonly organizationId: string; readonly tier: string };
type Volume = { readonly organizationId: string; readonly chain: string; readonly asset: string; readonly gross: Atomic };

const basisOf = (schedules: readonly Terms[], tiers: readonly Tier[], volumes: readonly Volume[]): FeeBasis => ({
  schedules: schedules.map(toScheduleFacts).filter((facts) => facts !== null),
  tiers: new Map(tiers.map(({ organizationId, tier }) => [organizationId, tier])),
  volumes: new Map(volumes.map(({ organizationId, chain, asset, gross }) => [volumeKey(organizationId, chain, asset), gross])),
});

const revive = ({ effectiveFrom, effectiveUntil, ...terms }: ScheduleJson): Terms => ({
  ...terms,
  effectiveFrom: new Date(effectiveFrom),
  effectiveUntil: effectiveUntil === null ? null : new Date(effectiveUntil),
});

const reviveVolume = ({ gross, ...volume }: Omit<Volume, "gross"> & { readonly gross: string }): Volume => ({
  ...volume,
  gross: atomicOf(gross),
});

/** `row` is that of selectFeeBasis. */
export function toFeeBasis(row: Row | undefined): FeeBasis {
  const schedules = (row?.["schedules"] ?? []) as readonly ScheduleJson[];
  const tiers = (row?.["tiers"] ?? []) as readonly Tier[];
  const volumes = (row?.["volumes"] ?? []) as readonly Parameters<typeof reviveVolume>[0][];
  return basisOf(schedules.map(revive), tiers, volumes.map(reviveVolume));
}

const thisMonth = sql`to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM')`;

/** Reads what selectFeeBasis reads, for one buyer and the organization of one seller. */
export async function loadFeeBasis(
  db: Database | Tx,
  buyerOrganizationId: string,
  sellerOrganizationId: string | null,
): Promise<FeeBasis> {
  const schedules = await db
    .select()
    .from(feeSchedules)
    .where(
      and(
        eq(feeSchedules.status, "active"),
        or(isNull(feeSchedules.buyerOrganizationId), eq(feeSchedules.buyerOrganizationId, buyerOrganizationId)),
        or(isNull(feeSchedules.sellerOrganizationId), eq(feeSchedules.sellerOrganizationId, sellerOrganizationId ?? "")),
      ),
    );
  const tiers = await db
    .select({ organizationId: subscriptions.organizationId, tier: subscriptions.tier })
    .from(subscriptions)
    .where(and(eq(subscriptions.organizationId, buyerOrganizationId), inArray(subscriptions.status, live)));
  const volumes = await db
    .select()
    .from(monthlyVolumes)
    .where(and(eq(monthlyVolumes.organizationId, buyerOrganizationId), eq(monthlyVolumes.month, thisMonth)));
  return basisOf(schedules, tiers, volumes);
}

/** A row of the table `authorizations` has all of these fields. */
export type CapturedPayment = {
  readonly authorizationId: string;
  readonly organizationId: string;
  readonly sellerOrganizationId: string | null;
  readonly amount: Atomic;
  readonly buyerShare: Atomic;
  readonly sellerShare: Atomic;
  readonly asset: string;
  readonly chain: string;
};

/** Call once, in the transaction that captures the amount, after locking the mandate and before locking the audit logs. */
export async function accrueFees(tx: Tx, payment: CapturedPayment): Promise<void> {
  const { authorizationId, asset, chain, organizationId } = payment;
  const debts = [
    { organizationId, side: "buyer", amount: payment.buyerShare },
    { organizationId: payment.sellerOrganizationId, side: "seller", amount: payment.sellerShare },
  ].flatMap((debt) =>
    debt.organizationId === null || debt.amount === 0n
      ? []
      : [{ ...debt, organizationId: debt.organizationId, feeId: newId("fee"), authorizationId, asset, chain, kind: "accrual" }],
  );
  const volume = tx
    .insert(monthlyVolumes)
    .values({ organizationId, month: thisMonth, chain, asset, gross: payment.amount })
    .onConflictDoUpdate({
      target: [monthlyVolumes.organizationId, monthlyVolumes.month, monthlyVolumes.chain, monthlyVolumes.asset],
      set: { gross: sql`${monthlyVolumes.gross} + excluded.gross` },
    });
  await Promise.all([debts.length > 0 && tx.insert(fees).values(debts), volume]);
}

/** Null for an unknown seller; `resource` is null if none is named, or if the named one does not exist or is archived. */
export async function findPayee(tx: Tx, environment: Environment, sellerId: string, resourceId: string | undefined) {
  const [seller] = await tx
    .select({ organizationId: sellers.organizationId })
    .from(sellers)
    .where(and(eq(sellers.sellerId, sellerId), eq(sellers.environment, environment)));
  if (!seller || resourceId === undefined) return seller ? { ...seller, resource: null } : null;
  const [resource] = await tx
    .select({ paymentConfig: resources.paymentConfig })
    .from(resources)
    .where(and(eq(resources.sellerId, sellerId), eq(resources.resourceId, resourceId), isNull(resources.archivedAt)));
  return { ...seller, resource: resource ?? null };
}

export async function saveFeeQuote(tx: Tx, row: typeof feeQuotes.$inferInsert): Promise<void> {
  await tx.insert(feeQuotes).values(row);
}

export async function knownOrganizations(tx: Tx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx
    .select({ id: organization.id })
    .from(organization)
    .where(inArray(organization.id, [...ids]));
  return new Set(rows.map(({ id }) => id));
}

export async function lockFeeSchedule(tx: Tx, feeScheduleId: string): Promise<FeeScheduleRow | null> {
  const [row] = await tx.select().from(feeSchedules).where(eq(feeSchedules.feeScheduleId, feeScheduleId)).for("update");
  return row ?? null;
}

export async function saveSchedule(tx: Tx, row: typeof feeSchedules.$inferInsert): Promise<FeeScheduleRow> {
  const { feeScheduleId: _, createdAt: __, ...terms } = row;
  const [saved] = await tx
    .insert(feeSchedules)
    .values(row)
    .onConflictDoUpdate({ target: feeSchedules.feeScheduleId, set: terms })
    .returning();
  return saved!;
}

const concerning = (organizationId: string) =>
  and(
    ne(feeSchedules.status, "draft"),
    or(
      eq(feeSchedules.buyerOrganizationId, organizationId),
      eq(feeSchedules.sellerOrganizationId, organizationId),
      and(
        isNull(feeSchedules.buyerOrganizationId),
        isNull(feeSchedules.sellerOrganizationId),
        or(
          isNull(feeSchedules.planTier),
          sql`${feeSchedules.planTier} IN (SELECT ${subscriptions.tier} FROM ${subscriptions}
            WHERE ${subscriptions.organizationId} = ${organizationId} AND ${inArray(subscriptions.status, live)})`,
        ),
      ),
    ),
  );

/** If `organizationId` is null, lists all schedules. */
export const selectSchedules = (
  db: Database,
  organizationId: string | null,
  place: string | null,
  limit: number,
): Promise<FeeScheduleRow[]> =>
  db
    .select()
    .from(feeSchedules)
    .where(
      and(
        organizationId === null ? undefined : concerning(organizationId),
        place === null ? undefined : lt(feeSchedules.feeScheduleId, place),
      ),
    )
    .orderBy(desc(feeSchedules.feeScheduleId))
    .limit(limit);

export const selectFees = (db: Database, organizationId: string, place: string | null, limit: number): Promise<FeeRow[]> =>
  db
    .select()
    .from(fees)
    .where(and(eq(fees.organizationId, organizationId), place === null ? undefined : lt(fees.feeId, place)))
    .orderBy(desc(fees.feeId))
    .limit(limit);

/** A subscription that exists already keeps its id and its time of creation. */
export async function saveSubscription(tx: Tx, row: typeof subscriptions.$inferInsert): Promise<SubscriptionRow> {
  const { subscriptionId: _, organizationId: __, createdAt: ___, ...terms } = row;
  const [saved] = await tx
    .insert(subscriptions)
    .values(row)
    .onConflictDoUpdate({ target: subscriptions.organizationId, set: terms })
    .returning();
  return saved!;
}
