import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import type { listMandateLedger as operation } from "#lib/mandates/contract.ts";
import { findMandate, reading, selectLedger } from "#lib/mandates/store.ts";
import { formatAmount } from "#lib/money.ts";
import { notFound } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";
import type { LedgerKind } from "#lib/vocabulary.ts";

export const listMandateLedger: Handler<typeof operation> = ({ id, query: { limit, cursor } }, { caller }) =>
  reading(async (tx) => {
    const mandate = await findMandate(tx, caller, id);
    if (mandate === null) throw notFound("mandate");
    const { items, ...rest } = page(await selectLedger(tx, id, limit + 1, decodeCursor(cursor)), limit, (row) => row.ledgerId);
    const decimals = decimalsOf(mandate);
    return {
      items: items.map(({ ledgerId, mandateId, kind, amount, authorizationId, reservationId, createdAt }) => ({
        ledgerId,
        mandateId,
        kind: kind as LedgerKind,
        amount: formatAmount(amount, decimals),
        asset: mandate.asset,
        authorizationId,
        reservationId,
        createdAt: toWire(createdAt),
      })),
      ...rest,
    };
  });
