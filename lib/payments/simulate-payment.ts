import { mainPool } from "#lib/db/client.ts";
import type { Decision } from "#lib/mandates/facts.ts";
import { decimalsOf, listTerms } from "#lib/payments/authorize-list.ts";
import { decideList, type Decided } from "#lib/payments/decide-list.ts";
import type { Answer, Item } from "#lib/payments/queue-item.ts";
import { compiledPolicies, factsOf } from "#lib/payments/list-facts.ts";
import { openAndLoad } from "#lib/payments/list-load.ts";
import { withSeenOffers } from "#lib/payments/list-offers.ts";
import { lookAtOffer } from "#lib/payments/probe-domain.ts";
import type { ToLook } from "#lib/payments/required-probe.ts";
import type { Problem } from "#lib/problem.ts";

type SimulationItem = Pick<Item, "organizationId" | "environment" | "mandateId" | "intent" | "requestId"> & {
  readonly asker: { readonly kind: "key" | "session"; readonly subjectId: string };
};

/**
 * Returns what authorizePayment would decide now, with the same facts and code, in a read-only transaction.
 * @throws Problem not_found, invalid_request
 */
export async function simulatePayment(asked: SimulationItem): Promise<Decision> {
  const [[, simulated]] = (await simulate([itemOf(asked)])) as [[Item, SimulationAnswer]];
  if (simulated.problem) throw simulated.problem;
  return simulated.row!.decision;
}

/** Simulates the payment under several mandates. A mandate whose simulation fails with a Problem is omitted. */
export async function simulatePayments(
  mandateIds: readonly string[],
  asked: Omit<SimulationItem, "mandateId">,
): Promise<ReadonlyMap<string, Pick<Decided, "decision" | "intent">>> {
  const simulated = await simulate(mandateIds.map((mandateId) => itemOf({ ...asked, mandateId })));
  return new Map(simulated.flatMap(([item, { row }]) => (row ? [[item.mandateId, row] as const] : [])));
}

type SimulationAnswer = { readonly problem: Problem | null; readonly row: Decided | null };
type Simulations = readonly (readonly [Item, SimulationAnswer])[];

/** Asks domains for their 402 as a real payment does, with no transaction open. */
async function simulate(items: readonly Item[]): Promise<Simulations> {
  const { looks, simulated } = await simulateOnce(items);
  if (looks.size === 0) return simulated;
  const looked = await Promise.all(
    items.map(async (item) => {
      const look = looks.get(item);
      return look ? { ...item, looked: await lookAtOffer(look, item.organizationId) } : item;
    }),
  );
  return (await simulateOnce(looked)).simulated;
}

async function simulateOnce(items: readonly Item[]) {
  const known = compiledPolicies(items);
  const terms = { ...listTerms(), asking: null };
  const facts = await mainPool().use(async (c) => {
    const loaded = await openAndLoad(c, items, known, "read");
    const facts = await withSeenOffers(c, items, factsOf(loaded, known, decimalsOf), terms);
    await c`ROLLBACK`;
    return facts;
  });
  // Simulating is a read, and the caller's right to read was checked already.
  const { answers, rows } = decideList(items, { ...facts, mayAuthorize: () => true }, terms);
  const looks = new Map(items.flatMap((item, index) => lookIn(item, answers[index])));
  const simulated: Simulations = items.map((item, index) => {
    const answer = answers[index];
    const problem = answer?.kind === "problem" ? answer.problem : null;
    return [item, { problem, row: rows.find((row) => row.item === item) ?? null }] as const;
  });
  return { looks, simulated };
}

const lookIn = (item: Item, answer: Answer | undefined): (readonly [Item, ToLook])[] =>
  answer?.kind === "look" ? [[item, answer.look]] : [];

const itemOf = ({ asker: { kind, subjectId }, ...asked }: SimulationItem): Item => ({
  ...asked,
  slot: "",
  fingerprint: "",
  idempotencyKey: asked.intent.intentId,
  asker: kind === "key" ? { kind, subjectId, keyId: "" } : { kind, subjectId, sessionId: "" },
});
