import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { firstIdAt } from "#lib/ids.ts";
import type { Atomic } from "#lib/money.ts";
import { executions } from "#lib/holds/tables.ts";
import { plainSettlements } from "#lib/settlement/tables.ts";
import type { Environment, SettlementStatus } from "#lib/vocabulary.ts";

/*
 * Payments that an organization received. They are in two tables: attempts under a mandate are the buyer's rows and contain fields that
 * the seller may see; settlements without a mandate are the seller's own rows. No other data of the buyer is read here.
 */

export type Reader = Database | Tx;
export type Scope = { readonly organizationId: string; readonly environment: Environment };

export type ReceivedFilter = {
  readonly sellerId?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly status?: SettlementStatus | undefined;
  /** The credential's nonce, in lower case. */
  readonly nonce?: string | undefined;
  /** Created at `from` or later, and before `until`. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
};

export type ReceivedRow = {
  readonly paymentId: string;
  readonly createdAt: Date;
  readonly resolvedAt: Date | null;
  readonly sellerId: string | null;
  readonly resourceId: string | null;
  readonly amount: Atomic | null;
  readonly chain: string | null;
  /** An attempt under a mandate has the asset's symbol; a settlement without a mandate has the token's address. */
  readonly asset: string | null;
  readonly tokenAddress: string | null;
  readonly status: string;
  readonly transaction: string | null;
  readonly payer: string | null;
  readonly nonce: string | null;
  readonly handedOver: boolean;
};

/** The sort key across both tables: the id without its prefix, which sorts by time. */
export const placeOfPayment = ({ paymentId }: Pick<ReceivedRow, "paymentId">): string => paymentId.slice("exe_".length);

type Page = { readonly place: string | null; readonly limit: number };

/** Newest first. */
export function selectReceivedExecutions(db: Reader, { organizationId, environment }: Scope, filter: ReceivedFilter, page: Page) {
  const { sellerId, resourceId, status, nonce, from, until } = filter;
  const { executionId } = executions;
  return db
    .select({
      paymentId: executionId,
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
    })
    .from(executions)
    .where(
      and(
        eq(executions.sellerOrganizationId, organizationId),
        eq(executions.environment, environment),
        page.place === null ? undefined : lt(executionId, `exe_${page.place}`),
        sellerId === undefined ? undefined : eq(executions.sellerId, sellerId),
        resourceId === undefined ? undefined : eq(executions.resourceId, resourceId),
        status === undefined ? undefined : eq(executions.settlementStatus, status),
        nonce === undefined ? undefined : eq(executions.nonce, nonce),
        from === undefined ? undefined : gte(executionId, firstIdAt("execution", from)),
        until === undefined ? undefined : lt(executionId, firstIdAt("execution", until)),
      ),
    )
    .orderBy(desc(executionId))
    .limit(page.limit);
}

/** Newest first. */
export function selectReceivedSettlements(
  db: Reader,
  { organizationId, environment }: Scope,
  filter: ReceivedFilter,
  page: Page,
) {
  const { sellerId, resourceId, status, nonce, from, until } = filter;
  const { settlementId } = plainSettlements;
  return db
    .select({
      paymentId: settlementId,
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
    })
    .from(plainSettlements)
    .where(
      and(
        eq(plainSettlements.organizationId, organizationId),
        eq(plainSettlements.environment, environment),
        page.place === null ? undefined : lt(settlementId, `stl_${page.place}`),
        sellerId === undefined ? undefined : eq(plainSettlements.sellerId, sellerId),
        resourceId === undefined ? undefined : eq(plainSettlements.resourceId, resourceId),
        status === undefined ? undefined : eq(plainSettlements.status, status),
        nonce === undefined ? undefined : eq(plainSettlements.nonce, nonce),
        from === undefined ? undefined : gte(settlementId, firstIdAt("settlement", from)),
        until === undefined ? undefined : lt(settlementId, firstIdAt("settlement", until)),
      ),
    )
    .orderBy(desc(settlementId))
    .limit(page.limit);
}
