import type { Sql } from "#lib/db/sql.ts";
import type { Item } from "#lib/payments/queue-item.ts";
import { probesOf, type BatchTerms } from "#lib/payments/batch/judge-item.ts";
import type { BatchFacts } from "#lib/payments/batch/facts.ts";
import { offersSeen } from "#lib/payments/batch/statements.ts";

/** This costs an extra round trip only if a payment goes to an allowed domain that its seller has not verified. */
export async function withSeenOffers(c: Sql, items: readonly Item[], facts: BatchFacts, terms: BatchTerms): Promise<BatchFacts> {
  const probes = [...probesOf(items, facts, terms)];
  if (probes.length === 0) return facts;
  const rows = await offersSeen(
    c,
    probes.map(([, probe]) => probe),
  );
  return { ...facts, seen: new Set(rows.map((row) => probes[row["number"] as number]![0])) };
}
