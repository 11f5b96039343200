import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page, type Page, type PageQuery } from "#lib/http/paging.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import type { listMandateLedger as operation } from "#lib/mandates/contract.ts";
import type { LedgerEntry } from "#lib/mandates/mandate-schema.ts";
import { findMandate, reading, selectLedger, type Scope } from "#lib/mandates/store.ts";
import { idUnder } from "#lib/ids.ts";
import { formatAmount } from "#lib/money.ts";
import { notFound } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";

export const listMandateLedger: Handler<typeof operation> = async ({ id, query }, { caller }) => {
  const { items, ...rest } = await viewLedger(caller, id, query);
  return { items: [...items], ...rest };
};

/** Newest first. @throws Problem not_found, invalid_request for an invalid cursor */
export const viewLedger = (scope: Scope, id: string, { limit, cursor }: PageQuery): Promise<Page<LedgerEntry>> =>
  reading(async (tx) => {
    const mandate = await findMandate(tx, scope, id);
    if (mandate === null) throw notFound("mandate");
    const { items, ...rest } = page(await selectLedger(tx, id, limit + 1, decodeCursor(cursor)), limit, (row) => row.ledgerId);
    const decimals = decimalsOf(mandate);
    return {
      items: items.map(({ ledgerId, mandateId, kind, amount, authorizationId, createdAt }) => ({
        ledgerId,
        mandateId,
        kind,
        amount: formatAmount(amount, decimals),
        asset: mandate.asset,
        authorizationId,
        reservationId: idUnder("reservation", authorizationId),
        createdAt: toWire(createdAt),
      })),
      ...rest,
    };
  });
