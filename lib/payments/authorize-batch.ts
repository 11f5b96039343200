import { pollCheckout } from "#lib/approvals/poll-checkout.ts";
import { execute, record } from "#lib/payments/execute-call.ts";
import type { Sql } from "#lib/db/sql.ts";
import { env } from "#lib/env.ts";
import { batchPool } from "#lib/db/client.ts";
import {
  connectionEnded,
  databaseAway,
  endedBeforeCommit,
  lockedOut,
  OutcomeUnknown,
  outcomeUnknown,
  sqlState,
} from "#lib/db/failure.ts";
import { inFlight, keyReused } from "#lib/command/idempotency.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { assetOf, configuredDecimals, onlyChain } from "#lib/chains/chains.ts";
import { decideBatch } from "#lib/payments/batch/decide.ts";
import { refusal, type Answer, type Item } from "#lib/payments/queue-item.ts";
import type { BatchTerms } from "#lib/payments/batch/judge-item.ts";
import { compiledPolicies, factsOf } from "#lib/payments/batch/facts.ts";
import { askedBefore, offersOfDomains, waiversFor, withPrepared } from "#lib/payments/batch/further-facts.ts";
import { leastIfSmaller } from "#lib/onchain/broadcast-caps.ts";
import { referencesOf } from "#lib/payments/batch/made-elsewhere.ts";
import { openAndLoad, pipelined, sellerDomainOf } from "#lib/payments/batch/load.ts";
import { lostOrder, lostSlot, saveBatch } from "#lib/payments/batch/save.ts";
import { readOffer } from "#lib/payments/unregistered-offer.ts";
import { overloaded } from "#lib/payments/queue.ts";
import { Problem } from "#lib/problem.ts";

const TRIES_MAX = 2;
const TRANSACTIONS_MAX = 20;
/** A run that fails after more milliseconds than this is not repeated with the same payments. */
const AGAIN_MS = 3_000;

export const batchTerms = (): BatchTerms => ({
  assetOf,
  leastIfSmaller,
  readOffer: (challenge) => readOffer(challenge, sellerDomainOf),
  onlyChain: onlyChain(),
  asking: { checkoutUrl: (checkoutIntentId) => `${env().BASE_URL}/checkout/${checkoutIntentId}`, pollCheckout, execute, record },
  keyReused,
  onBug: (item, error) => log().error({ requestId: item.requestId, err: error }, "An authorization failed"),
});

export const knownDecimals = (chain: string, asset: string): number => configuredDecimals(chain, asset) ?? 0;

/** Usually takes three round trips. Returns only after COMMIT, or after ROLLBACK if there is nothing to store. */
async function authorizeAll(c: Sql, connection: object, items: readonly Item[]): Promise<readonly Answer[]> {
  const known = compiledPolicies(items);
  let committing = false;
  try {
    const loaded = await openAndLoad(c, items, known);
    const terms = batchTerms();
    const facts = withPrepared(items, factsOf(loaded, known, knownDecimals), terms);
    const [seen, waivers, asked, named] = await pipelined([
      offersOfDomains(c, facts),
      waiversFor(c, facts),
      askedBefore(c, facts),
      referencesOf(c, items),
    ]);
    const { answers, rows, records } = decideBatch(items, { ...facts, ...seen, ...waivers, ...asked, ...named }, terms);
    if (rows.length === 0 && records.length === 0) {
      await c`ROLLBACK`;
      return answers;
    }
    const events = await saveBatch(c, connection, { rows, records }, () => (committing = true));
    metrics().batchSize.observe(items.length);
    metrics().auditEvents.inc(events);
    return answers;
  } catch (error) {
    if (committing && connectionEnded(error)) throw new OutcomeUnknown("COMMIT was sent and not answered.", { cause: error });
    throw error;
  }
}

const away = (detail: string): Problem => new Problem("service_unavailable", { detail, retryAfterSeconds: 1 });

const nothingDecided = (): Problem =>
  away("The service cannot reach its database. Nothing was decided. Ask again with the same idempotency key.");

/** The decisions may or may not be stored. A retry with the same idempotency key finds them if they are. */
const maybeDecided = (): Problem =>
  away(
    "The service lost its database while it saved the decision. Ask again with the same idempotency key: the answer says what was saved.",
  );

/** Whether a second run can succeed. After a lost slot, it finds the reply that another process stored. */
const passing = (error: unknown): boolean => lostSlot(error) || lockedOut(error) || endedBeforeCommit(error);

/** At most one mandate is in both halves. Finding one bad payment of n takes at most 1 + 2·⌈log2(n)⌉ runs. */
function halves(items: readonly Item[]): readonly (readonly Item[])[] {
  const together = [...Map.groupBy(items, (item) => item.mandateId).values()].flat();
  const middle = Math.ceil(together.length / 2);
  return [together.slice(0, middle), together.slice(middle)];
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 45));

/** A refused batch is split until the bad payment is alone; after TRANSACTIONS_MAX, the rest is refused as overloaded. */
export async function authorizeBatch(items: readonly Item[]): Promise<readonly Answer[]> {
  const answers = new Map<Item, Answer>();
  const budget = { left: TRANSACTIONS_MAX };
  await run(items, answers, budget, 0);
  return items.map((item) => answers.get(item) ?? refusal(overloaded()));
}

async function run(items: readonly Item[], answers: Map<Item, Answer>, budget: { left: number }, tries: number): Promise<void> {
  const answerAll = (problem: () => Problem) => items.forEach((item) => answers.set(item, refusal(problem())));
  if (budget.left <= 0) return answerAll(overloaded);
  budget.left -= 1;
  const since = performance.now();
  try {
    (await batchPool().use((c, connection) => authorizeAll(c, connection, items))).forEach((answer, index) =>
      answers.set(items[index]!, answer),
    );
  } catch (error) {
    if (passing(error) && tries < TRIES_MAX && performance.now() - since < AGAIN_MS) {
      await pause();
      return run(items, answers, budget, tries + 1);
    }
    if (databaseAway(error)) {
      metrics().failures.inc({ sqlstate: sqlState(error) ?? "none" }, items.length);
      log().error({ requestId: items[0]?.requestId, sqlState: sqlState(error), err: error }, "The database does not answer");
      return answerAll(outcomeUnknown(error) ? maybeDecided : nothingDecided);
    }
    if (items.length > 1) {
      for (const half of halves(items)) await run(half, answers, budget, tries);
      return;
    }
    if (lostOrder(error)) return answerAll(inFlight);
    log().error({ requestId: items[0]?.requestId, sqlState: sqlState(error), err: error }, "A batch was refused by the database");
    answerAll(
      lockedOut(error)
        ? overloaded
        : () => new Problem("internal_error", { detail: "Something went wrong on our side. Nothing was authorized." }),
    );
  }
}
