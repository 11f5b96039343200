import { and, eq, inArray, ne, sql, type SQL } from "drizzle-orm";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { env } from "#lib/env.ts";
import { firstIdAt } from "#lib/ids.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { chainOfUnit, readAmount, UNIT_DECIMALS } from "#lib/money.ts";
import { ID_SLACK_MS } from "#lib/pages/id-slack.ts";
import type { PaymentFilter } from "#lib/payments/payment-filter.ts";
import { authorizations, executions, reservations } from "#lib/holds/tables.ts";
import { Unit, type Rail } from "#lib/vocabulary.ts";

type Db = Database | Tx;

/** The maximum number of payments that one query checks for conditions that no index serves. */
export const LOOKED_AT_MAX = 5_000;

/**
 * With IS NOT FALSE, PostgreSQL uses no index for this condition, but estimates its rows by the column's statistics. Otherwise
 * it would expect few rows.
 */
const ofOwner = ({ organizationId, environment }: Scope): SQL =>
  sql`(a.organization_id = ${organizationId}) IS NOT FALSE AND a.environment = ${environment}`;

type Page = { readonly limit: number; readonly place: string | null };

function range({ since, until }: PaymentFilter, place: string | null): { readonly from: string; readonly to: string } {
  const idAt = (time: number) => firstIdAt("authorization", new Date(time));
  const from = since ? idAt(since.getTime() - ID_SLACK_MS) : FIRST;
  const to = until ? idAt(until.getTime() + ID_SLACK_MS) : LAST;
  return { from, to: place !== null && place < to ? place : to };
}

const one = sql`a.authorization_id`;
const FIRST = "aut_0";
const LAST = `aut_${"z".repeat(26)}`;

type Ids = readonly string[] | null;

/** The index that finds the rows; the other conditions are checked row by row. */
function keyOf({ settlementStatus, mandateId, outcome }: PaymentFilter, ids: Ids) {
  if (ids !== null) return "ids";
  if (settlementStatus !== undefined) return "settlement";
  if (mandateId !== undefined) return "mandate";
  return outcome === "deny" || outcome === "requireApproval" ? "outcome" : "organization";
}

type Key = readonly (readonly [column: SQL, value: string])[];

/** Compares and orders by every column of the index, or the planner could scan the payments of all organizations backwards. */
function pieceOf(key: Key, id: SQL, filter: PaymentFilter, { limit, place }: Page) {
  const { from, to } = range(filter, place);
  const list = (parts: readonly SQL[]) => sql`(${sql.join([...parts], sql`, `)})`;
  const columns = [...key.map(([column]) => column), id];
  const row = (end: string) => list([...key.map(([, value]) => sql`${value}`), sql`${end}`]);
  const newestFirst = columns.map((column) => sql`${column} DESC`);
  return {
    where: sql`${list(columns)} >= ${row(from)} AND ${list(columns)} < ${row(to)}`,
    /** Finds the same rows as `where`; with the `<` of `where`, the planner may expect no rows here, and then sort all rows. */
    whereMany: sql`${list(columns)} >= ${row(from)} AND ${list(columns)} <= ${row(to)} AND ${id} <> ${to}`,
    end: sql`ORDER BY ${sql.join(newestFirst, sql`, `)} LIMIT ${limit}`,
  };
}

/** LATERAL keeps the tables in this order; with DISTINCT instead of DISTINCT ON, the planner could hash all executions. */
function byAttempts({ organizationId }: Scope, filter: PaymentFilter, page: Page): SQL {
  const key: Key = [
    [sql`e.organization_id`, organizationId],
    [sql`e.settlement_status`, filter.settlementStatus ?? ""],
  ];
  const { whereMany, end } = pieceOf(key, sql`e.authorization_id`, filter, page);
  return sql`SELECT w.authorization_id AS place, a.* FROM (
      SELECT DISTINCT ON (e.organization_id, e.settlement_status, e.authorization_id) e.authorization_id
      FROM executions e WHERE ${whereMany} ${end}) w,
    LATERAL (SELECT * FROM authorizations WHERE authorization_id = w.authorization_id LIMIT 1) a
    ORDER BY w.authorization_id DESC`;
}

function found(scope: Scope, filter: PaymentFilter, ids: Ids, page: Page): SQL {
  const key = keyOf(filter, ids);
  if (key === "settlement") return byAttempts(scope, filter, page);
  const organization = [sql`a.organization_id`, scope.organizationId] as const;
  const keys: Readonly<Record<typeof key, Key>> = {
    ids: [],
    mandate: [[sql`a.mandate_id`, filter.mandateId ?? ""]],
    outcome: [organization, [sql`a.outcome`, filter.outcome ?? ""]],
    organization: [organization],
  };
  const { where, end } = pieceOf(keys[key], one, filter, page);
  return sql`SELECT a.authorization_id AS place, a.* FROM authorizations a
    WHERE ${where} AND ${ofOwner(scope)}
      ${ids === null ? sql`` : sql`AND ${one} = ANY(${sql.param(ids)}::text[])`}
      ${key === "outcome" ? sql`AND a.outcome <> 'allow'` : sql``} ${end}`;
}

const terms = sql`(SELECT t.terms::json FROM payment_terms t WHERE t.terms_id = a.terms_id)`;
const domain = sql`(${terms} -> 'seller' ->> 'domain')`;
const atDomain = (text: string): SQL => sql`(${domain} = ${text} OR right(${domain}, ${text.length + 1}) = ${`.${text}`})`;

/** In any configured asset or unit, with or without the buyer's share of the fee. */
function amounts(text: string): SQL {
  const units = Unit.options.map((asset) => ({ chain: chainOfUnit(asset), asset, tokenDecimals: UNIT_DECIMALS }));
  const coins = [...env().CHAINS.flatMap(({ chain, assets }) => assets.map((asset) => ({ chain, ...asset }))), ...units];
  const same = coins.flatMap(({ chain, asset, tokenDecimals }) => {
    const read = readAmount(text, tokenDecimals);
    if (!read.ok) return [];
    const amount = sql`${read.amount.toString()}::numeric`;
    return [sql`(a.chain = ${chain} AND a.asset = ${asset} AND (a.amount = ${amount} OR a.amount + a.buyer_share = ${amount}))`];
  });
  return same.length === 0 ? sql`false` : sql`(${sql.join(same, sql` OR `)})`;
}

/** The conditions that the index cannot check. */
function rest(scope: Scope, filter: PaymentFilter, ids: Ids): readonly SQL[] {
  const { search, mandateId, subjectId, domain: seller, outcome, settlementStatus, since, until } = filter;
  const key = keyOf(filter, ids);
  const attempts = sql`FROM executions e WHERE e.authorization_id = ${one} AND e.settlement_status`;
  const conditions: readonly (SQL | false | undefined)[] = [
    key === "settlement" && ofOwner(scope),
    // The count is read by index for each payment. With NOT EXISTS, the planner could hash all executions instead.
    settlementStatus === "failed" && sql`(SELECT count(*) ${attempts} IN ('pending', 'processing', 'unknown', 'settled')) = 0`,
    settlementStatus !== undefined && key !== "settlement" && sql`EXISTS (SELECT ${attempts} = ${settlementStatus})`,
    mandateId !== undefined && key !== "mandate" && sql`a.mandate_id = ${mandateId}`,
    outcome !== undefined && key !== "outcome" && sql`a.outcome = ${outcome}`,
    subjectId !== undefined && sql`a.subject_id = ${subjectId}`,
    since && sql`a.created_at >= ${since.toISOString()}::timestamptz`,
    until && sql`a.created_at < ${until.toISOString()}::timestamptz`,
    seller !== undefined && atDomain(seller),
    search?.kind === "amount" && amounts(search.amount),
    search?.kind === "text" && ids === null && sql`(a.intent_id = ${search.text} OR ${atDomain(search.text.toLowerCase())})`,
  ];
  return conditions.filter((condition) => condition !== false && condition !== undefined);
}

const columns = sql`a.authorization_id AS "authorizationId", a.created_at AS "createdAt", a.mandate_id AS "mandateId",
  a.policy_version AS "policyVersion", a.subject_id AS "subjectId", a.outcome, a.denial_code AS "denialCode", a.intent_id AS "intentId",
  a.amount::text AS amount, a.buyer_share::text AS "buyerShare", a.unit_amount::text AS "unitAmount",
  a.unit_rate AS "unitRate", a.asset, a.chain, a.pay_to AS "payTo",
  a.held, a.expires_at AS "expiresAt", ${terms} -> 'seller' AS seller, ${terms} -> 'resource' AS resource,
  ${terms} ->> 'paymentChallengeType' AS rail,
  coalesce(a.intent::json ->> 'idempotencyKey', a.intent_id) AS "idempotencyKey"`;

export type PaymentRow = {
  readonly authorizationId: string;
  readonly createdAt: Date;
  readonly mandateId: string;
  readonly policyVersion: number;
  readonly subjectId: string;
  readonly outcome: string;
  readonly denialCode: string | null;
  readonly intentId: string;
  readonly amount: string;
  readonly buyerShare: string;
  readonly unitAmount: string | null;
  readonly unitRate: string | null;
  readonly asset: string;
  readonly chain: string;
  readonly payTo: string | null;
  readonly held: boolean;
  readonly expiresAt: Date;
  readonly seller: { readonly sellerId?: string; readonly name?: string; readonly domain?: string; readonly verified?: boolean };
  readonly resource: { readonly resourceId: string; readonly description?: string } | null;
  readonly rail: Rail;
  readonly idempotencyKey: string;
};

/** Exported so that a test can check its query plan. */
export function paymentsQuery(scope: Scope, filter: PaymentFilter, ids: Ids, { limit, place }: Page): SQL {
  const conditions = rest(scope, filter, ids);
  const window = conditions.length === 0 ? limit : LOOKED_AT_MAX;
  const where = conditions.length === 0 ? sql`true` : sql.join([...conditions], sql` AND `);
  return sql`SELECT ${columns} FROM (${found(scope, filter, ids, { limit: window, place })}) a
    WHERE ${where} ORDER BY a.place DESC LIMIT ${limit}`;
}

/** Newest first; conditions that no index serves are checked for only LOOKED_AT_MAX payments. */
export async function selectPayments(
  db: Db,
  scope: Scope,
  filter: PaymentFilter,
  ids: Ids,
  page: Page,
): Promise<readonly PaymentRow[]> {
  const rows = await db.execute(paymentsQuery(scope, filter, ids, page));
  return rows.map((row) => ({
    ...(row as PaymentRow),
    createdAt: new Date(row["createdAt"] as string),
    expiresAt: new Date(row["expiresAt"] as string),
  }));
}

/** The id of the oldest checked payment if older ones may be unchecked; otherwise null. */
export async function lastLookedAt(
  db: Db,
  scope: Scope,
  filter: PaymentFilter,
  ids: Ids,
  place: string | null,
): Promise<string | null> {
  if (ids !== null || rest(scope, filter, ids).length === 0) return null;
  const looked = found(scope, filter, ids, { limit: LOOKED_AT_MAX, place });
  const [row] = await db.execute(sql`SELECT min(a.place) AS last, count(*)::int AS count FROM (${looked}) a`);
  return row?.["count"] === LOOKED_AT_MAX ? (row["last"] as string) : null;
}

export const selectHoldsOf = (db: Db, authorizationIds: readonly string[]) =>
  db
    .select({ authorizationId: reservations.authorizationId, status: reservations.status, expiresAt: reservations.expiresAt })
    .from(reservations)
    .where(inArray(reservations.authorizationId, [...authorizationIds]));

/** The oldest executions first. The caller must have checked the payments' organization. */
export async function stagesOf(db: Db, authorizationIds: readonly string[]) {
  const ids = [...authorizationIds];
  if (ids.length === 0) return { attempts: [], holds: [], checkouts: [], repeats: [] };
  const [attempts, holds, checkouts, repeats] = await Promise.all([
    db
      .select({
        authorizationId: executions.authorizationId,
        executionId: executions.executionId,
        settlementStatus: executions.settlementStatus,
        settlementReference: executions.settlementReference,
        resolvedAt: executions.resolvedAt,
      })
      .from(executions)
      .where(inArray(executions.authorizationId, ids))
      .orderBy(executions.executionId),
    selectHoldsOf(db, ids),
    db
      .select({
        authorizationId: checkoutIntents.authorizationId,
        status: checkoutIntents.status,
        expiresAt: checkoutIntents.expiresAt,
      })
      .from(checkoutIntents)
      .where(inArray(checkoutIntents.authorizationId, ids)),
    db
      .select({
        authorizationId: authorizations.authorizationId,
        byOther: sql<boolean>`${checkoutIntents.ownerSubjectId} <> ${authorizations.subjectId}`,
      })
      .from(authorizations)
      .innerJoin(checkoutIntents, eq(checkoutIntents.checkoutIntentId, authorizations.checkoutIntentId))
      .where(
        and(
          inArray(authorizations.authorizationId, ids),
          eq(authorizations.outcome, "requireApproval"),
          ne(checkoutIntents.authorizationId, authorizations.authorizationId),
        ),
      ),
  ]);
  return { attempts, holds, checkouts, repeats };
}

const NAMES_MAX = 200;

export const mandateNames = (db: Db, scope: Scope) =>
  db
    .select({ mandateId: mandates.mandateId, name: mandates.name })
    .from(mandates)
    .where(within(mandates, scope))
    .orderBy(sql`${mandates.mandateId} DESC`)
    .limit(NAMES_MAX);

export async function namesOfMandates(
  db: Db,
  { organizationId }: Scope,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const rows = await db
    .select({ mandateId: mandates.mandateId, name: mandates.name })
    .from(mandates)
    .where(and(inArray(mandates.mandateId, wanted), eq(mandates.organizationId, organizationId)));
  return new Map(rows.map(({ mandateId, name }) => [mandateId, name]));
}
