import type { Row } from "postgres";
import { pool } from "#lib/db/client.ts";
import type { Decision } from "#lib/mandates/facts.ts";
import { assetOf } from "#lib/onchain/chains.ts";
import { listTerms } from "#lib/payments/authorize-list.ts";
import { decideList } from "#lib/payments/decide-list.ts";
import type { Item } from "#lib/payments/item.ts";
import { compiledPolicies, factsOf } from "#lib/payments/list-facts.ts";
import { openAndLoad, type Loaded } from "#lib/payments/list-load.ts";

type Simulated = Pick<Item, "organizationId" | "environment" | "mandateId" | "intent" | "requestId"> & {
  readonly asker: { readonly kind: "key" | "session"; readonly subjectId: string };
};

/**
 * What authorizePayment would decide now, by the same facts and the same code; the transaction is rolled back.
 * @throws Problem not_found, invalid_request
 */
export async function simulatePayment({ asker, ...asked }: Simulated): Promise<Decision> {
  const { kind, subjectId } = asker;
  const item: Item = {
    ...asked,
    slot: "",
    fingerprint: "",
    idempotencyKey: asked.intent.intentId,
    asker: kind === "key" ? { kind, subjectId, keyId: "" } : { kind, subjectId, sessionId: "" },
  };
  const known = compiledPolicies([item]);
  const c = await pool().reserve();
  try {
    const loaded = withDates(await openAndLoad(c, [item], known));
    const facts = factsOf(loaded, known, (chain, asset) => assetOf(chain, asset)?.tokenDecimals ?? 0);
    // Simulating is a read, which the caller was checked for.
    const { answers, rows } = decideList([item], { ...facts, mayAuthorize: () => true }, listTerms());
    const [answer] = answers;
    if (answer?.kind === "problem") throw answer.problem;
    return rows[0]!.decision;
  } finally {
    await c`ROLLBACK`.catch(() => {});
    c.release();
  }
}

const dates = (rows: readonly Row[], ...names: readonly string[]): Row[] =>
  rows.map((row) => {
    const read = names.map((name) => [name, row[name] === null ? null : new Date(row[name] as string)] as const);
    return { ...row, ...Object.fromEntries(read) };
  });

/** On this pool drizzle reads times itself, so the driver leaves them as text; the pool of the lists is not drizzle's. */
const withDates = (loaded: Loaded): Loaded => ({
  ...loaded,
  now: new Date(loaded.now),
  mandates: dates(loaded.mandates, "last_held_at"),
  buckets: dates(loaded.buckets, "start", "live_until"),
});
