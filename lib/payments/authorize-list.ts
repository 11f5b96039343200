import type { ReservedSql } from "postgres";
import { env } from "#lib/env.ts";
import { listPool } from "#lib/db/client.ts";
import { databaseAway, lockTimedOut, sqlState } from "#lib/db/failure.ts";
import { keyReused } from "#lib/http/idempotency.ts";
import { log } from "#lib/http/log.ts";
import { metrics } from "#lib/http/metrics.ts";
import { assetOf, onlyChain } from "#lib/onchain/chains.ts";
import { decideList, type ListTerms } from "#lib/payments/decide-list.ts";
import { refusal, type Answer, type Item } from "#lib/payments/item.ts";
import { compiledPolicies, factsOf } from "#lib/payments/list-facts.ts";
import { openAndLoad, sellerDomainOf } from "#lib/payments/list-load.ts";
import { lostSlot, saveList } from "#lib/payments/list-save.ts";
import { readOffer } from "#lib/payments/unregistered.ts";
import { overloaded } from "#lib/payments/queue.ts";
import { Problem } from "#lib/problem.ts";

const TRIES_MAX = 2;
const TRANSACTIONS_MAX = 20;

/** COMMIT was sent and no answer came: the rows may exist, and the same key finds the truth later. */
class CommitUnknown extends Error {}

export const listTerms = (): ListTerms => ({
  assetOf,
  readOffer: (challenge) => readOffer(challenge, sellerDomainOf),
  onlyChain: onlyChain(),
  checkoutUrl: (checkoutIntentId) => `${env().BASE_URL}/checkout/${checkoutIntentId}`,
  keyReused,
  onBug: (item, error) => log().error({ requestId: item.requestId, err: error }, "An authorization failed"),
});

/** One transaction in two trips. Answers are given after COMMIT, never before. */
async function authorizeAll(c: ReservedSql, items: readonly Item[]): Promise<readonly Answer[]> {
  const known = compiledPolicies(items);
  let committing = false;
  try {
    const loaded = await openAndLoad(c, items, known);
    const decided = listTerms();
    const facts = factsOf(loaded, known, (chain, asset) => assetOf(chain, asset)?.tokenDecimals ?? 0);
    const { answers, rows, extras } = decideList(items, facts, decided);
    if (rows.length === 0 && extras.length === 0) {
      await c`ROLLBACK`;
      return answers;
    }
    const events = await saveList(c, { rows, extras }, () => (committing = true));
    metrics().listSize.observe(items.length);
    metrics().auditEvents.inc(events);
    return answers;
  } catch (error) {
    if (committing && databaseAway(error)) throw new CommitUnknown("COMMIT", { cause: error });
    await c`ROLLBACK`.catch(() => {});
    throw error;
  }
}

const away = (): Problem =>
  new Problem("service_unavailable", {
    detail: "The database does not answer. Ask again with the same idempotency key.",
    retryAfterSeconds: 1,
  });

/** Deadlock, serialization, lock timeout, a slot that was lost: the same list may fit a moment later. */
const passing = (error: unknown): boolean => lostSlot(error) || ["40P01", "40001", "55P03"].includes(sqlState(error) ?? "");

/** What belongs to one mandate stays together. Halves, because one bad item among n then costs at most 1 + 2·log2(n) transactions. */
function halves(items: readonly Item[]): readonly (readonly Item[])[] {
  const together = [...Map.groupBy(items, (item) => item.mandateId).values()].flat();
  const middle = Math.ceil(together.length / 2);
  return [together.slice(0, middle), together.slice(middle)];
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 45));

/** Decides a list under the locks of its mandates. A list that the database refuses is split until the bad item stands alone. */
export async function authorizeList(items: readonly Item[]): Promise<readonly Answer[]> {
  const answers = new Map<Item, Answer>();
  const budget = { left: TRANSACTIONS_MAX };
  await run(items, answers, budget, 0);
  return items.map((item) => answers.get(item) ?? refusal(overloaded()));
}

async function attempt(items: readonly Item[]): Promise<readonly Answer[]> {
  const c = await listPool().reserve();
  try {
    return await authorizeAll(c, items);
  } finally {
    c.release();
  }
}

async function run(items: readonly Item[], answers: Map<Item, Answer>, budget: { left: number }, tries: number): Promise<void> {
  const answerAll = (problem: () => Problem) => items.forEach((item) => answers.set(item, refusal(problem())));
  if (budget.left <= 0) return answerAll(overloaded);
  budget.left -= 1;
  try {
    (await attempt(items)).forEach((answer, index) => answers.set(items[index]!, answer));
  } catch (error) {
    if (error instanceof CommitUnknown || databaseAway(error)) return answerAll(away);
    if (passing(error) && tries < TRIES_MAX) {
      await pause();
      return run(items, answers, budget, tries + 1);
    }
    if (items.length > 1) {
      for (const half of halves(items)) await run(half, answers, budget, tries);
      return;
    }
    log().error({ requestId: items[0]?.requestId, sqlState: sqlState(error), err: error }, "A list was refused by the database");
    answerAll(
      lockTimedOut(error)
        ? overloaded
        : () => new Problem("internal_error", { detail: "Something went wrong on our side. Nothing was authorized." }),
    );
  }
}
