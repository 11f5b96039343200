import type { Row } from "postgres";
import { pool } from "#lib/db/client.ts";
import type { Decision } from "#lib/mandates/facts.ts";
import { assetOf } from "#lib/onchain/chains.ts";
import { listTerms } from "#lib/payments/authorize-list.ts";
import { decideList, type Decided } from "#lib/payments/decide-list.ts";
import type { Item } from "#lib/payments/item.ts";
import { compiledPolicies, factsOf } from "#lib/payments/list-facts.ts";
import { openAndLoad, type Loaded } from "#lib/payments/list-load.ts";
import type { Problem } from "#lib/problem.ts";

type Simulated = Pick<Item, "organizationId" | "environment" | "mandateId" | "intent" | "requestId"> & {
  readonly asker: { readonly kind: "key" | "session"; readonly subjectId: string };
};

/**
 * What authorizePayment would decide now, by the same facts and the same code, in a transaction that only reads.
 * @throws Problem not_found, invalid_request
 */
export async function simulatePayment(asked: Simulated): Promise<Decision> {
  const [[, simulated]] = (await simulate([asked])) as [[Item, Answered]];
  if (simulated.problem) throw simulated.problem;
  return simulated.row!.decision;
}

/** The same under each of several mandates; one that refuses the question is left out. */
export async function simulatePayments(
  mandateIds: readonly string[],
  asked: Omit<Simulated, "mandateId">,
): Promise<ReadonlyMap<string, Pick<Decided, "decision" | "intent">>> {
  const simulated = await simulate(mandateIds.map((mandateId) => ({ ...asked, mandateId })));
  return new Map(simulated.flatMap(([item, { row }]) => (row ? [[item.mandateId, row] as const] : [])));
}

type Answered = { readonly problem: Problem | null; readonly row: Decided | null };

async function simulate(asked: readonly Simulated[]): Promise<readonly (readonly [Item, Answered])[]> {
  const items = asked.map(itemOf);
  const known = compiledPolicies(items);
  const c = await pool().reserve();
  try {
    const loaded = withDates(await openAndLoad(c, items, known, "read"));
    const facts = factsOf(loaded, known, (chain, asset) => assetOf(chain, asset)?.tokenDecimals ?? 0);
    // Simulating is a read, which the caller was checked for.
    const { answers, rows } = decideList(items, { ...facts, mayAuthorize: () => true }, listTerms());
    return items.map((item, index) => {
      const answer = answers[index];
      const problem = answer?.kind === "problem" ? answer.problem : null;
      return [item, { problem, row: rows.find((row) => row.item === item) ?? null }] as const;
    });
  } finally {
    await c`ROLLBACK`.catch(() => {});
    c.release();
  }
}

const itemOf = ({ asker: { kind, subjectId }, ...asked }: Simulated): Item => ({
  ...asked,
  slot: "",
  fingerprint: "",
  idempotencyKey: asked.intent.intentId,
  asker: kind === "key" ? { kind, subjectId, keyId: "" } : { kind, subjectId, sessionId: "" },
});

const dates = (rows: readonly Row[], ...names: readonly string[]): Row[] =>
  rows.map((row) => {
    const read = names.map((name) => [name, row[name] === null ? null : new Date(row[name] as string)] as const);
    return { ...row, ...Object.fromEntries(read) };
  });

/** On this pool drizzle reads times itself, so the driver leaves them as text; the pool of the lists is not drizzle's. */
const withDates = (loaded: Loaded): Loaded => ({
  ...loaded,
  mandates: dates(loaded.mandates, "last_held_at"),
});
