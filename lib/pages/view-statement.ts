import { listFees } from "#lib/billing/contract.ts";
import { presentFee, presentSchedule, presentSubscription } from "#lib/billing/present.ts";
import { digitsOf, zeroRow } from "#lib/billing/schedule-facts.ts";
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
import type { SessionCaller } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import { add, atomicOf, formatAmount, zero, type Atomic } from "#lib/money.ts";
import { notFound } from "#lib/problem.ts";

const ROWS = 20;
const EXPORTED_AT_ONCE = 1_000;
const SCHEDULES = 50;
const MONTH = /^20[0-9]{2}-(0[1-9]|1[0-2])$/;

type Member = SessionCaller & { readonly organizationId: string };

const requireAccess = compileAccess(listFees.access);

function decimalsOf(chain: string, asset: string): number {
  const decimals = digitsOf(chain, asset) ?? digitsOf(null, asset);
  if (decimals === null) throw new Error(`The configuration no longer names ${asset}, in which fees are owed.`);
  return decimals;
}

type Sum = { buyer: Atomic; seller: Atomic; payments: number; readonly decimals: number };

/** One line for each month and asset, in the order of the rows. */
function linesOf(rows: readonly MonthSum[]): StatementLine[] {
  const sums = new Map<string, Sum>();
  for (const { month, chain, asset, side, amount, count } of rows) {
    const key = `${month} ${asset}`;
    const sum = sums.get(key) ?? { buyer: zero, seller: zero, payments: 0, decimals: decimalsOf(chain, asset) };
    if (side === "buyer") sum.buyer = add(sum.buyer, atomicOf(amount));
    else sum.seller = add(sum.seller, atomicOf(amount));
    sum.payments += count;
    sums.set(key, sum);
  }
  return [...sums].map(([key, { buyer, seller, payments, decimals }]) => ({
    month: key.slice(0, 7),
    asset: key.slice(8),
    asBuyer: formatAmount(buyer, decimals),
    asSeller: formatAmount(seller, decimals),
    total: formatAmount(add(buyer, seller), decimals),
    payments,
  }));
}

function volumesOf(rows: Awaited<ReturnType<typeof selectVolumes>>): StatementView["volumes"] {
  const sums = new Map<string, { gross: Atomic; readonly decimals: number }>();
  for (const { chain, asset, gross } of rows) {
    const sum = sums.get(asset) ?? { gross: zero, decimals: decimalsOf(chain, asset) };
    sums.set(asset, { ...sum, gross: add(sum.gross, gross) });
  }
  return [...sums].map(([asset, { gross, decimals }]) => ({ asset, gross: formatAmount(gross, decimals) }));
}

type StatementRequest = { readonly month: string | undefined; readonly cursor: string | undefined };

async function chosenMonth(month: string | undefined): Promise<{ readonly month: string; readonly current: string }> {
  const current = await thisMonth();
  if (month !== undefined && !MONTH.test(month)) throw notFound("month");
  return { month: month ?? current, current };
}

/**
 * The fees that the organization owes for a UTC month, by default this month, with its plan, its fee schedules and its volume.
 * @throws Problem capability_required, not_found for an invalid month, invalid_request for an invalid cursor
 */
export async function viewStatement(caller: Member, asked: StatementRequest): Promise<StatementView> {
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
    schedules: [...schedules, zeroRow].map(presentSchedule),
  };
}

/**
 * The fees of a month as CSV lines, newest first, as a stream.
 * @throws Problem capability_required, not_found
 */
export async function exportFees(
  caller: Member,
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
