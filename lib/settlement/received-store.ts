import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { within } from "#lib/db/scope.ts";
import { firstIdAt, prefixes } from "#lib/ids.ts";
import type { Atomic } from "#lib/money.ts";
import { executions } from "#lib/holds/tables.ts";
import { plainSettlements } from "#lib/settlement/tables.ts";
import type { Environment, SettlementStatus } from "#lib/vocabulary.ts";

/*
 * Payments to an organization, from two tables. The rows of `executions` belong to the buyer, so only the fields that the seller
 * may see are read. The rows of `plainSettlements` belong to the seller.
 */

export type Reader = Database | Tx;
export type Scope = { readonly organizationId: string; readonly environment: Environment };

export type ReceivedFilter = {
  readonly sellerId?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly status?: SettlementStatus | undefined;
  /** The nonce of the signed payment, in lower case. */
  readonly nonce?: string | undefined;
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
};

export type ReceivedRow = {
  readonly settlementId: string;
  readonly createdAt: Date;
  readonly resolvedAt: Date | null;
  readonly sellerId: string | null;
  readonly resourceId: string | null;
  readonly amount: Atomic | null;
  readonly chain: string | null;
  /** Only a payment under a mandate has a symbol; a settlement without a mandate has the token's address. */
  readonly asset: string | null;
  readonly tokenAddress: string | null;
  readonly status: string;
  readonly transaction: string | null;
  readonly payer: string | null;
  readonly nonce: string | null;
  readonly handedOver: boolean;
};

/** The sort key for both tables: the id without its prefix, because ids begin with the time at which they were made. */
export const placeOfPayment = ({ settlementId }: Pick<ReceivedRow, "settlementId">): string => settlementId.slice("exe_".length);

type Page = { readonly place: string | null; readonly limit: number };

export const executed = {
  settlementId: executions.executionId,
  createdAt: executions.createdAt,
  resolvedAt: executions.resolvedAt,
  sellerId: executions.sellerId,
  resourceId: executions.resourceId,
  amount: executions.amount,
  chain: executions.chain,
  asset: executions.asset,
  tokenAddress: sql<string | null>`NULL`,
  status: executions.settlementStatus,
  transaction: executions.settlementReference,
  payer: executions.payer,
  nonce: executions.nonce,
  handedOver: executions.handedOver,
};
export const settled = {
  settlementId: plainSettlements.settlementId,
  createdAt: plainSettlements.createdAt,
  resolvedAt: plainSettlements.resolvedAt,
  sellerId: plainSettlements.sellerId,
  resourceId: plainSettlements.resourceId,
  amount: plainSettlements.amount,
  chain: plainSettlements.chain,
  asset: sql<string | null>`NULL`,
  tokenAddress: plainSettlements.tokenAddress,
  status: plainSettlements.status,
  transaction: plainSettlements.transaction,
  payer: plainSettlements.payer,
  nonce: plainSettlements.nonce,
  handedOver: plainSettlements.handedOver,
};
export type Columns = typeof executed | typeof settled;

function matches(columns: Columns, kind: "execution" | "settlement", filter: ReceivedFilter, place: string | null) {
  const { sellerId, resourceId, status, nonce, from, until } = filter;
  const { settlementId } = columns;
  return and(
    place === null ? undefined : lt(settlementId, `${prefixes[kind]}_${place}`),
    sellerId === undefined ? undefined : eq(columns.sellerId, sellerId),
    resourceId === undefined ? undefined : eq(columns.resourceId, resourceId),
    status === undefined ? undefined : eq(columns.status, status),
    nonce === undefined ? undefined : eq(columns.nonce, nonce),
    from === undefined ? undefined : gte(settlementId, firstIdAt(kind, from)),
    until === undefined ? undefined : lt(settlementId, firstIdAt(kind, until)),
  );
}

export const ownExecutions = (scope: Scope) =>
  within({ organizationId: executions.sellerOrganizationId, environment: executions.environment }, scope);

export const ownSettlements = (scope: Scope) => within(plainSettlements, scope);

export const selectReceivedExecutions = (db: Reader, scope: Scope, filter: ReceivedFilter, { place, limit }: Page) =>
  db
    .select(executed)
    .from(executions)
    .where(and(ownExecutions(scope), matches(executed, "execution", filter, place)))
    .orderBy(desc(executed.settlementId))
    .limit(limit);

export const selectReceivedSettlements = (db: Reader, scope: Scope, filter: ReceivedFilter, { place, limit }: Page) =>
  db
    .select(settled)
    .from(plainSettlements)
    .where(and(ownSettlements(scope), matches(settled, "settlement", filter, place)))
    .orderBy(desc(settled.settlementId))
    .limit(limit);
