import type { WaiverTerms } from "#lib/approvals/decision/waiver.ts";
import { waiversFor } from "#lib/approvals/decision/waiver-store.ts";
import type { Sql } from "#lib/db/sql.ts";
import { isWaivable } from "#lib/mandates/policy/waive.ts";
import { add } from "#lib/money.ts";
import type { BatchFacts } from "#lib/payments/batch/facts.ts";
import type { NewAuthorization } from "#lib/payments/batch/decide.ts";
import { basketOfPayment } from "#lib/payments/open-checkout.ts";
import { payingSubjectOf, type Item } from "#lib/payments/queue-item.ts";

/** The terms that a waiver for this payment must have; null if it was not refused or its refusal cannot be waived. */
function waivableTerms({ item, seller, resource, decision, intent, payTo, ...row }: NewAuthorization): WaiverTerms | null {
  if (item.purchase || decision.outcome !== "deny" || seller?.verified !== true || payTo === null) return null;
  if (!isWaivable(decision)) return null;
  const { sellerId, domain } = seller;
  const payee = { sellerId, domain, resourceId: resource?.resourceId ?? null };
  return {
    mandateId: item.mandateId,
    policyVersion: row.policyVersion,
    subjectId: payingSubjectOf(item),
    basketHash: basketOfPayment({ ...payee, intent, tokenDecimals: row.tokenDecimals }).hash,
    charged: add(row.amount, row.fee.buyerShare),
    payTo,
  };
}

/** Sends no query unless a rule that a person can waive refused a payment. Null if no waiver fits. */
export async function waiversOf(c: Sql, rows: readonly NewAuthorization[]): Promise<BatchFacts["waivers"] | null> {
  const refused = rows.flatMap((row) => {
    const terms = waivableTerms(row);
    return terms ? [{ item: row.item, terms }] : [];
  });
  if (refused.length === 0) return null;
  const found = await waiversFor(
    c,
    refused.map(({ terms }) => terms),
  );
  if (found.size === 0) return null;
  return new Map<Item, readonly string[]>([...found].map(([at, ids]) => [refused[at]!.item, ids]));
}
