import type { Handler } from "#lib/http/operation.ts";
import { notFound } from "#lib/problem.ts";
import { decimalsOf } from "./check-terms.ts";
import type { getMandate as operation } from "./contract.ts";
import { presentMandate } from "./present-mandate.ts";
import { findMandate, liveBuckets, reading } from "./store.ts";

export const getMandate: Handler<typeof operation> = ({ id }, { caller }) =>
  reading(async (tx, now) => {
    const row = await findMandate(tx, caller, id);
    if (row === null) throw notFound("mandate");
    return presentMandate(row, await liveBuckets(tx, [id], now), decimalsOf(row), now);
  });
