import type { Handler } from "#lib/http/operation.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import type { getMandate as operation } from "#lib/mandates/contract.ts";
import { presentMandate } from "#lib/mandates/present-mandate.ts";
import { findMandate, liveBuckets, reading } from "#lib/mandates/store.ts";
import { notFound } from "#lib/problem.ts";

export const getMandate: Handler<typeof operation> = ({ id }, { caller }) =>
  reading(async (tx, now) => {
    const row = await findMandate(tx, caller, id);
    if (row === null) throw notFound("mandate");
    return presentMandate(row, await liveBuckets(tx, [id], now), decimalsOf(row), now);
  });
