import { countRefusals, insertAlerts, selectBudgets, selectExecutions } from "#lib/alerts/alert-store.ts";
import { budgetAlerts, DEFAULT_THRESHOLDS } from "#lib/alerts/budget-alerts.ts";
import type { FoundAlert } from "#lib/alerts/facts.ts";
import { thresholdsOf } from "#lib/alerts/threshold-store.ts";
import { clearancesIn, decidedIn, questionsIn, unknownIn, type Decided } from "#lib/alerts/usage-store.ts";
import { followLogs, type EventRange } from "#lib/audit/cursor.ts";
import { clock } from "#lib/audit/transact.ts";
import { configuredDecimals } from "#lib/chains/chains.ts";
import type { Tx } from "#lib/db/client.ts";
import { add, displayAmount } from "#lib/money.ts";
import { minutes } from "#lib/time.ts";

const HOUR_MS = minutes(60);
/** This many refusals of a mandate with one code, counted in one hour of the clock, cause an alert. */
const REFUSALS = 5;
/** An alert about an unknown outcome waits this long, because the outcome may become known meanwhile. */
const UNKNOWN_MINUTES = 10;

/** A worker runs this function, so that alerts do not make the decision of a payment slower. Returns how many alerts it found. */
export const followUsage = (): Promise<number> => followLogs({ cursors: "alert_cursors", events: 5_000, read });

async function read(tx: Tx, ranges: readonly EventRange[]): Promise<number> {
  const now = await clock(tx);
  let count = 0;
  for (const range of ranges) {
    const decided = await decidedIn(tx, range);
    const found = [
      ...(await fromDecisions(tx, decided, now)),
      ...(await fromUnknown(tx, range, now)),
      ...(await fromQuestions(tx, range, now)),
    ];
    await insertAlerts(tx, found);
    count += found.length;
  }
  return count;
}

async function fromDecisions(tx: Tx, decided: readonly Decided[], now: Date): Promise<FoundAlert[]> {
  const ids = [...new Set(decided.map(({ mandateId }) => mandateId))];
  const thresholds = ids.length === 0 ? new Map<string, readonly number[]>() : await thresholdsOf(tx, ids);
  const found: FoundAlert[] = [];
  for (const { row, buckets } of await selectBudgets(tx, ids, now)) {
    const { mandateId, organizationId, name, asset, policy } = row;
    const decimals = configuredDecimals(row.chain, asset);
    if (decimals === null) continue;
    const used = add(row.spent, row.reserved);
    const live = buckets.map((one) => ({ ...one, used: add(one.spent, one.reserved) }));
    const mandate = { organizationId, mandateId, name, asset, decimals, policy, used, buckets: live };
    found.push(...budgetAlerts({ ...mandate, thresholds: thresholds.get(mandateId) ?? DEFAULT_THRESHOLDS }, now));
    for (const refused of decided) {
      if (refused.mandateId === mandateId && refused.code !== null)
        found.push(...(await refusals(tx, refused.code, refused, mandate, now)));
    }
  }
  return found;
}

type Named = { readonly organizationId: string; readonly mandateId: string; readonly name: string };

/** Refusals of an hour that began more than two hours ago cause no alert, because they are read late and are no news. */
async function refusals(tx: Tx, code: string, { hour, count }: Decided, { organizationId, mandateId, name }: Named, now: Date) {
  if (now.getTime() - hour.getTime() > 2 * HOUR_MS) return [];
  if ((await countRefusals(tx, mandateId, code, hour, count)) < REFUSALS) return [];
  const facts = { kind: "refusals", mandateId, name, code } as const;
  const window = `refused ${code} ${hour.toISOString()}`;
  return [{ organizationId, subjectId: mandateId, window, threshold: REFUSALS, facts, dueAt: now, status: "waiting" as const }];
}

async function fromQuestions(tx: Tx, range: EventRange, now: Date): Promise<FoundAlert[]> {
  const alert = { organizationId: range.chain, threshold: 0, dueAt: now, status: "waiting" } as const;
  const asked = (await questionsIn(tx, range)).map(({ authorizationId, sequence, question }): FoundAlert => ({
    ...alert,
    subjectId: authorizationId,
    window: `${question.asks} ${sequence}`,
    facts: { ...question, authorizationId },
  }));
  const declined = (await clearancesIn(tx, range)).map(({ authorizationId, mandateId, subjectId, hour }): FoundAlert => ({
    ...alert,
    subjectId: mandateId,
    window: `clearance ${subjectId} ${hour.toISOString()}`,
    facts: { kind: "card", authorizationId, asks: "clearance" },
  }));
  return [...asked, ...declined];
}

/** An alert is sent only if the outcome is still unknown then. */
async function fromUnknown(tx: Tx, range: EventRange, now: Date): Promise<FoundAlert[]> {
  const rows = await selectExecutions(tx, await unknownIn(tx, range));
  return rows.map(({ executionId, authorizationId, organizationId, chain, asset, amount }) => {
    const decimals = chain === null || asset === null ? null : configuredDecimals(chain, asset);
    const text = amount === null || decimals === null ? "" : displayAmount(amount, decimals, asset ?? "");
    return {
      organizationId,
      subjectId: executionId,
      window: "unknown",
      threshold: UNKNOWN_MINUTES,
      facts: { kind: "unknown", executionId, authorizationId, amount: text } as const,
      dueAt: new Date(now.getTime() + minutes(UNKNOWN_MINUTES)),
      status: "waiting" as const,
    };
  });
}
