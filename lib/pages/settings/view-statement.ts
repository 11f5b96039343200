import { listFees } from "#lib/billing/contract.ts";
import { feeDecimals, presentFee, presentScheduleTo, presentSubscription } from "#lib/billing/present.ts";
import { zeroRow } from "#lib/billing/schedule-facts.ts";
import type { StatementLine, StatementView } from "#lib/billing/statement-view.ts";
import {
  findSubscription,
  selectMonth,
  selectVolumes,
  sumMonths,
  thisMonth,
  type MonthSum,
} from "#lib/billing/statement-store.ts";
import { selectSchedules } from "#lib/billing/store.ts";
import { database } from "#lib/db/client.ts";
import { compileAccess } from "#lib/http/access.ts";
import { csvLine } from "#lib/http/csv.ts";
import type { MemberCaller } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import { add, atomicOf, formatAmount, zero, type Atomic } from "#lib/money.ts";
import { notFound } from "#lib/problem.ts";

const ROWS = 20;
const EXPORTED_AT_ONCE = 1_000;
const SCHEDULES = 50;
const MONTH = /^20[0-9]{2}-(0[1-9]|1[0-2])$/;

const requireAccess = compileAccess(listFees.access);

/** Sums have more decimals than any token can have, because an asset may have different decimals on each chain. */
const DIGITS = 36;

const scaled = (chain: string, asset: string, amount: Atomic): Atomic =>
  atomicOf(amount * 10n ** BigInt(DIGITS - feeDecimals(chain, asset)));
const text = (amount: Atomic): string => formatAmount(amount, DIGITS);

type Sum = { buyer: Atomic; seller: Atomic; payments: number };

function linesOf(rows: readonly MonthSum[]): StatementLine[] {
  const sums = new Map<string, Sum>();
  for (const { month, chain, asset, side, amount, count } of rows) {
    const key = `${month} ${asset}`;
    const sum = sums.get(key) ?? { buyer: zero, seller: zero, payments: 0 };
    const debt = scaled(chain, asset, atomicOf(amount));
    if (side === "buyer") sum.buyer = add(sum.buyer, debt);
    else sum.seller = add(sum.seller, debt);
    sum.payments += count;
    sums.set(key, sum);
  }
  return [...sums].map(([key, { buyer, seller, payments }]) => ({
    month: key.slice(0, 7),
    asset: key.slice(8),
    asBuyer: text(buyer),
    asSeller: text(seller),
    total: text(add(buyer, seller)),
    payments,
  }));
}

function volumesOf(rows: Awaited<ReturnType<typeof selectVolumes>>): StatementView["volumes"] {
  const sums = new Map<string, Atomic>();
  for (const { chain, asset, gross } of rows) sums.set(asset, add(sums.get(asset) ?? zero, scaled(chain, asset, gross)));
  return [...sums].map(([asset, gross]) => ({ asset, gross: text(gross) }));
}

type StatementRequest = { readonly month: string | undefined; readonly cursor: string | undefined };

async function chosenMonth(month: string | undefined): Promise<{ readonly month: string; readonly current: string }> {
  const current = await thisMonth();
  if (month !== undefined && !MONTH.test(month)) throw notFound("month");
  return { month: month ?? current, current };
}

/** @throws Problem capability_required, not_found for an invalid month, invalid_request for an invalid cursor */
export async function viewStatement(caller: MemberCaller, asked: StatementRequest): Promise<StatementView> {
  requireAccess(caller);
  const { organizationId } = caller;
  const { month, current } = await chosenMonth(asked.month);
  const place = decodeCursor(asked.cursor);
  const [sums, rows, volumes, subscription, schedules] = await Promise.all([
    sumMonths(organizationId),
    selectMonth(organizationId, month, place, ROWS + 1),
    selectVolumes(organizationId, month),
    findSubscription(organizationId),
    selectSchedules(database(), organizationId, null, SCHEDULES),
  ]);
  const { items, nextCursor } = page(rows, ROWS, (row) => row.feeId);
  const history = linesOf(sums);
  return {
    month,
    current,
    lines: history.filter((line) => line.month === month),
    history,
    volumes: volumesOf(volumes),
    fees: items.map(presentFee),
    ...(nextCursor !== undefined && { nextCursor }),
    ...(subscription && { subscription: presentSubscription(subscription) }),
    schedules: [...schedules, zeroRow].map((row) => presentScheduleTo(organizationId, row)),
  };
}

/** The lines of a CSV file, with the newest fee first. @throws Problem capability_required, not_found for an invalid month */
export async function exportFees(
  caller: MemberCaller,
  asked: string | undefined,
): Promise<{ readonly month: string; readonly lines: AsyncGenerator<string> }> {
  requireAccess(caller);
  const { month } = await chosenMonth(asked);
  return { month, lines: feeLines(caller.organizationId, month) };
}

async function* feeLines(organizationId: string, month: string): AsyncGenerator<string> {
  yield csvLine(["createdAt", "feeId", "authorizationId", "side", "kind", "amount", "asset", "chain"]);
  let place: string | null = null;
  for (;;) {
    const rows = await selectMonth(organizationId, month, place, EXPORTED_AT_ONCE);
    for (const row of rows) {
      const { createdAt, feeId, authorizationId, side, kind, amount, asset } = presentFee(row);
      yield csvLine([createdAt, feeId, authorizationId, side, kind, amount, asset, row.chain]);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < EXPORTED_AT_ONCE) return;
    place = last.feeId;
  }
}
