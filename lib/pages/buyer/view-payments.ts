import type { Tx } from "#lib/db/client.ts";
import { decodeCursor, encodeCursor, page, type Page } from "#lib/http/paging.ts";
import type { Asker, AskerReader } from "#lib/identity/asker.ts";
import { selectMembers } from "#lib/identity/member-store.ts";
import { agentNames, askersOf } from "#lib/identity/subject-name-store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { reading, type Scope } from "#lib/mandates/store.ts";
import { countedText, formatAmount } from "#lib/money.ts";
import type { PaymentFilter } from "#lib/payments/payment-filter.ts";
import {
  lastLookedAt,
  mandateNames,
  namesOfMandates,
  selectPayments,
  type PaymentRow,
} from "#lib/pages/buyer/payments/page-store.ts";
import { idsOf } from "#lib/payments/search-store.ts";
import { readStages } from "#lib/pages/buyer/payments/stages.ts";
import type { Stage } from "#lib/payments/stage.ts";
import { toWire } from "#lib/time.ts";
import type { Outcome, Rail, SettlementStatus } from "#lib/vocabulary.ts";

/** `seller`, `resource` and `mandate` contain untrusted text. */
export type PaymentLine = {
  readonly authorizationId: string;
  readonly createdAt: string;
  readonly stage: Stage;
  readonly outcome: Outcome;
  readonly denialCode: string | null;
  /** The amount that is paid to the payee, as decimal text. */
  readonly amount: string;
  /** With the buyer's share of the fee, as decimal text. */
  readonly total: string;
  /** What that counts as in the unit of the mandate, such as "0.28 USD"; null without a unit. */
  readonly counted: string | null;
  readonly asset: string;
  readonly chain: string;
  readonly payTo: string | null;
  readonly seller: PaymentRow["seller"];
  readonly resource: PaymentRow["resource"];
  readonly rail: Rail;
  readonly asker: Asker;
  readonly mandateId: string;
  readonly mandate: string;
  readonly policyVersion: number;
  readonly intentId: string;
  readonly idempotencyKey: string;
  /** The execution that has not failed, or else the newest failed one. Null without executions. */
  readonly execution: {
    readonly executionId: string;
    readonly settlementStatus: SettlementStatus;
    readonly transaction: string | null;
    readonly resolvedAt: string | null;
  } | null;
};

export type PaymentPage = Page<PaymentLine> & {
  /** True if the search stopped at its maximum before this page was full; the next page continues, even if this one is empty. */
  readonly looksFurther: boolean;
};

type Query = { readonly cursor?: string | undefined; readonly limit: number };

/**
 * Newest first; a page checks only 5,000 payments if no index serves the whole filter.
 * @throws Problem invalid_request for an invalid cursor
 */
export const viewPayments = (scope: AskerReader, filter: PaymentFilter, { cursor, limit }: Query): Promise<PaymentPage> =>
  reading(async (tx, now) => {
    const place = decodeCursor(cursor);
    const ids = await idsOf(tx, scope, filter.search);
    const rows = await selectPayments(tx, scope, filter, ids, { limit: limit + 1, place });
    const cut = page(rows, limit, (row) => row.authorizationId);
    const lines = { ...cut, items: await linesOf(tx, scope, cut.items, now) };
    if (cut.hasMore) return { ...lines, looksFurther: false };
    const last = await lastLookedAt(tx, scope, filter, ids, place);
    if (last === null) return { ...lines, looksFurther: false };
    return { ...lines, nextCursor: encodeCursor(last), hasMore: true, looksFurther: true };
  });

async function linesOf(tx: Tx, scope: AskerReader, rows: readonly PaymentRow[], now: Date): Promise<PaymentLine[]> {
  const stageAt = await readStages(tx, rows, now);
  const askerOf = await askersOf(
    tx,
    scope,
    rows.map((row) => row.subjectId),
  );
  const mandates = await namesOfMandates(
    tx,
    scope,
    rows.map((row) => row.mandateId),
  );
  return rows.map((row) => {
    const { stage, attempts: tried } = stageAt(row);
    const counts = tried.find(({ settlementStatus }) => settlementStatus !== "failed") ?? tried.at(-1);
    const decimals = decimalsOf(row);
    const { authorizationId, denialCode, asset, chain, payTo, seller, resource, rail, mandateId, policyVersion, intentId } = row;
    return {
      authorizationId,
      createdAt: toWire(row.createdAt),
      stage,
      outcome: row.outcome as Outcome,
      denialCode,
      amount: formatAmount(BigInt(row.amount), decimals),
      total: formatAmount(BigInt(row.amount) + BigInt(row.buyerShare), decimals),
      counted: countedText(row.unitAmount === null ? null : BigInt(row.unitAmount), row.unitRate),
      asset,
      chain,
      payTo,
      seller,
      resource,
      rail,
      asker: askerOf(row.subjectId),
      mandateId,
      mandate: mandates.get(mandateId) ?? mandateId,
      policyVersion,
      intentId,
      idempotencyKey: row.idempotencyKey,
      execution: counts
        ? {
            executionId: counts.executionId,
            settlementStatus: counts.settlementStatus as SettlementStatus,
            transaction: counts.settlementReference,
            resolvedAt: counts.resolvedAt && toWire(counts.resolvedAt),
          }
        : null,
    };
  });
}

const MEMBERS_MAX = 200;

export type PaymentChoices = {
  readonly mandates: readonly { readonly mandateId: string; readonly name: string }[];
  /** The agents, then the members, because people can pay too. */
  readonly askers: readonly { readonly subjectId: string; readonly name: string }[];
};

export const viewPaymentChoices = (scope: Scope): Promise<PaymentChoices> =>
  reading(async (tx) => ({
    mandates: await mandateNames(tx, scope),
    askers: [
      ...(await agentNames(tx, scope.organizationId)).map(({ agentId, name }) => ({ subjectId: agentId, name })),
      ...(await selectMembers(scope.organizationId, MEMBERS_MAX)).map(({ userId, name }) => ({ subjectId: userId, name })),
    ],
  }));
