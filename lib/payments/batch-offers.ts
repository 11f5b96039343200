import type { Sql } from "#lib/db/sql.ts";
import type { Item } from "#lib/payments/queue-item.ts";
import { looksOf, type BatchTerms } from "#lib/payments/judge-item.ts";
import type { BatchFacts } from "#lib/payments/batch-facts.ts";
import { offersSeen } from "#lib/payments/batch-statements.ts";

/** Makes an extra round trip only if a payee in the batch is at an allowed domain that it has not verified. */
export async function withSeenOffers(c: Sql, items: readonly Item[], facts: BatchFacts, terms: BatchTerms): Promise<BatchFacts> {
  const looks = [...looksOf(items, facts, terms)];
  if (looks.length === 0) return facts;
  const rows = await offersSeen(
    c,
    looks.map(([, look]) => look),
  );
  return { ...facts, seen: new Set(rows.map((row) => looks[row["number"] as number]![0])) };
}
