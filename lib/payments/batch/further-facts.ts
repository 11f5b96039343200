import { countRequestsInBatch, rememberedOf } from "#lib/approvals/request-count-store.ts";
import { agentKey } from "#lib/approvals/request-limits.ts";
import type { Sql } from "#lib/db/sql.ts";
import type { BatchFacts } from "#lib/payments/batch/facts.ts";
import { prepare, type BatchTerms } from "#lib/payments/batch/judge-item.ts";
import { readWaiver } from "#lib/payments/batch/read.ts";
import { offersSeen, unusedWaivers } from "#lib/payments/batch/statements.ts";
import { keyOf } from "#lib/payments/offers/required-probe.ts";
import { payingSubjectOf, type Item } from "#lib/payments/queue-item.ts";

/** Prepares the payments that must be decided. `judge` throws again what one of them throws here. */
export function withPrepared(items: readonly Item[], facts: BatchFacts, terms: BatchTerms): BatchFacts {
  for (const item of items) {
    const budget = facts.budgets.get(item.mandateId);
    if (!budget || "unreadable" in budget || budget.organizationId !== item.organizationId) continue;
    if (facts.mayAuthorize(item) !== true || facts.stored.has(item.slot)) continue;
    try {
      facts.prepared.set(item, prepare(item, budget, facts, terms));
    } catch {
      continue;
    }
  }
  return facts;
}

/** Sends no query unless a payment goes to an allowed domain that its seller has not verified. */
export async function offersOfDomains(c: Sql, { prepared }: BatchFacts): Promise<Partial<BatchFacts>> {
  const wanted = [...prepared].flatMap(([{ probeResult }, { probe }]) => (probe && !probeResult ? [probe] : []));
  const probes = [...new Map(wanted.map((probe) => [keyOf(probe), probe])).values()];
  if (probes.length === 0) return {};
  const rows = await offersSeen(c, probes);
  return { seen: new Set(rows.map((row) => keyOf(probes[row["number"] as number]!))) };
}

/** Sends no query unless a rule that a person can waive denies a payment. */
export async function waiversFor(c: Sql, { prepared }: BatchFacts): Promise<Partial<BatchFacts>> {
  const mandateIds = [...prepared].flatMap(([{ mandateId }, { waivable }]) => (waivable ? [mandateId] : []));
  if (mandateIds.length === 0) return {};
  const rows = await unusedWaivers(c, [...new Set(mandateIds)]);
  return { waivers: Map.groupBy(rows.map(readWaiver), ({ mandateId }) => mandateId) };
}

/**
 * Locks the agents whose payments may open requests for approval, and reads their requests and what people said before. Sends no
 * query if there are none. A payment may open one if a rule asks a person, even if another rule then denies it.
 */
export async function askedBefore(c: Sql, { prepared, budgets }: BatchFacts): Promise<Partial<BatchFacts>> {
  const asked = [...prepared].flatMap(([item, { question }]) => {
    const budget = budgets.get(item.mandateId);
    if (!question || !budget || "unreadable" in budget || budget.openApprovals.has(question.approvalKey)) return [];
    const { organizationId, mandateId, intent } = item;
    const { hash: basketHash } = question.basket;
    const ownerSubjectId = payingSubjectOf(item);
    return [{ item, organizationId, ownerSubjectId, mandateId, basketHash, metadata: intent.metadata ?? null }];
  });
  if (asked.length === 0) return {};
  const agents = [...new Map(asked.map((one) => [agentKey(one), one])).values()].toSorted((a, b) =>
    a.ownerSubjectId < b.ownerSubjectId ? -1 : 1,
  );
  const counted = countRequestsInBatch(c, {
    of: agents.map(({ organizationId }) => organizationId),
    ids: agents.map(({ ownerSubjectId }) => ownerSubjectId),
  });
  const [requests, said] = await Promise.all([counted, rememberedOf(c, asked)]);
  return { requests, remembered: new Map([...said].map(([at, remembered]) => [asked[at]!.item, remembered])) };
}
