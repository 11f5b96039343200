import { pool } from "#lib/db/client.ts";
import type { CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { Decision } from "#lib/mandates/policy/facts.ts";
import type { WindowUsage } from "#lib/mandates/mandate-schema.ts";
import { presentUsage } from "#lib/mandates/present-mandate.ts";
import { statusOf } from "#lib/mandates/policy/status.ts";
import { knownDecimals, batchTerms } from "#lib/payments/authorize-batch.ts";
import { decideBatch, type NewAuthorization } from "#lib/payments/batch/decide.ts";
import type { Item } from "#lib/payments/queue-item.ts";
import { compiledPolicies, factsOf, type BatchFacts } from "#lib/payments/batch/facts.ts";
import { referencesOf } from "#lib/payments/batch/made-elsewhere.ts";
import { loadToRead } from "#lib/payments/batch/load.ts";
import { offersOfDomains, withPrepared } from "#lib/payments/batch/further-facts.ts";
import { probeDomain } from "#lib/payments/probe-domain.ts";
import type { Problem } from "#lib/problem.ts";
import type { MandateStatus } from "#lib/vocabulary.ts";

type SimulationItem = Pick<Item, "organizationId" | "environment" | "mandateId" | "intent" | "requestId"> & {
  readonly asker: { readonly kind: Item["asker"]["kind"]; readonly subjectId: string };
};

/** Stores no decision and locks no mandate. @throws Problem not_found, invalid_request, rate_limited, overloaded */
export async function simulatePayment(asked: SimulationItem): Promise<Decision> {
  const items = [itemOf(asked)];
  const [[, simulated]] = (await simulate(items, await readFacts(items))) as [[Item, SimulationAnswer]];
  if (simulated.problem) throw simulated.problem;
  return simulated.row!.decision;
}

export type Prospect = {
  readonly policy: CompiledPolicy;
  readonly status: MandateStatus;
  readonly usage: readonly WindowUsage[];
  /** The simulated decision and intent. Null if the payment was not simulated, or if the simulation failed with a Problem. */
  readonly simulated: Pick<NewAuthorization, "decision" | "intent"> | null;
};

/** Simulates the payment under several mandates. The result has no entry for a mandate that cannot be read. */
export async function simulatePayments(
  mandateIds: readonly string[],
  asked: Omit<SimulationItem, "mandateId">,
): Promise<ReadonlyMap<string, Prospect>> {
  const items = mandateIds.map((mandateId) => itemOf({ ...asked, mandateId }));
  const facts = await readFacts(items);
  // Read the usage before the simulation, because the simulation adds to it what its own payment reserves.
  const usage = usageOf(facts);
  const simulated = new Map((await simulate(items, facts)).map(([{ mandateId }, { row }]) => [mandateId, row] as const));
  return new Map([...usage].map(([id, prospect]) => [id, { ...prospect, simulated: simulated.get(id) ?? null }] as const));
}

export const readUsage: typeof simulatePayments = async (mandateIds, asked) =>
  usageOf(await readFacts(mandateIds.map((mandateId) => itemOf({ ...asked, mandateId }))));

function usageOf({ budgets, now }: BatchFacts): Map<string, Prospect> {
  const prospects = new Map<string, Prospect>();
  for (const [mandateId, budget] of budgets) {
    if ("unreadable" in budget) continue;
    const { policy, status } = budget.facts;
    const usage = presentUsage(policy, budget.usage, budget.usage.buckets, now);
    prospects.set(mandateId, { policy, status: statusOf(status, policy, budget.usage, now), usage, simulated: null });
  }
  return prospects;
}

type SimulationAnswer = { readonly problem: Problem | null; readonly row: NewAuthorization | null };
type Simulations = readonly (readonly [Item, SimulationAnswer])[];

async function readFacts(items: readonly Item[]): Promise<BatchFacts> {
  const known = compiledPolicies(items);
  return factsOf(await loadToRead(pool(), items), known, knownDecimals);
}

/** No transaction is open while the sellers' domains are called. */
async function simulate(items: readonly Item[], facts: BatchFacts): Promise<Simulations> {
  const { probes, simulated } = await simulateOnce(items, facts);
  if (probes.size === 0) return simulated;
  const probed = await Promise.all(
    items.map(async (item) => {
      const probe = probes.get(item);
      return probe ? { ...item, probeResult: await probeDomain(probe, item.organizationId) } : item;
    }),
  );
  return (await simulateOnce(probed, await readFacts(probed))).simulated;
}

async function simulateOnce(items: readonly Item[], read: BatchFacts) {
  const terms = { ...batchTerms(), asking: null };
  // The caller's right to simulate was checked already; it needs no right to pay. A simulation uses no waiver.
  const facts = withPrepared(items, { ...read, mayAuthorize: () => true }, terms);
  const { answers, rows } = decideBatch(
    items,
    { ...facts, ...(await offersOfDomains(pool(), facts)), ...(await referencesOf(pool(), items)) },
    terms,
  );
  const probes = new Map(answers.flatMap((answer, at) => (answer.kind === "probe" ? [[items[at]!, answer.probe] as const] : [])));
  const simulated: Simulations = items.map((item, index) => {
    const answer = answers[index];
    const problem = answer?.kind === "problem" ? answer.problem : null;
    return [item, { problem, row: rows.find((row) => row.item === item) ?? null }] as const;
  });
  return { probes, simulated };
}

const itemOf = ({ asker: { kind, subjectId }, ...asked }: SimulationItem): Item => ({
  ...asked,
  slot: "",
  fingerprint: "",
  idempotencyKey: asked.intent.intentId,
  asker: kind === "session" ? { kind, subjectId, sessionId: "" } : { kind: "key", subjectId, keyId: "" },
});
