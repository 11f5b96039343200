import { fingerprintOf, slotOf } from "#lib/command/idempotency.ts";
import { parseApiKey } from "#lib/identity/keys/api-key.ts";
import { newId } from "#lib/ids.ts";
import { AskedIntent } from "#lib/payment-intent.ts";
import type { Answer, Item } from "#lib/payments/queue-item.ts";
import { nameIntent } from "#lib/payments/name-intent.ts";
import { intentFor, type Buyer } from "#test/mandates.ts";

/* Batches (payments that the service decides together), and short forms of their answers. */

/** An agent's authorize request under the mandate, as an entry of a batch. */
export function itemOf(buyer: Buyer, mandateId: string, change: Record<string, unknown> = {}): Item {
  const asked = AskedIntent.parse({ ...intentFor(buyer, "0.5"), ...change });
  const intent = nameIntent(asked, newId("request"));
  const scope = { organizationId: buyer.organizationId, environment: "sandbox" } as const;
  const key = buyer.agent.credential["authorization"]?.slice("Bearer ".length) ?? "";
  return {
    ...scope,
    slot: slotOf({ ...scope, operationId: "authorizePayment", key: intent.intentId }),
    fingerprint: fingerprintOf(JSON.stringify(intent)),
    idempotencyKey: intent.intentId,
    asker: { kind: "key", subjectId: buyer.agent.serviceAccountId, keyId: parseApiKey(key)?.keyId ?? "" },
    mandateId,
    intent,
    requestId: newId("request"),
  };
}

export function inShort(answer: Answer): string {
  if (answer.kind === "probe") return "probe";
  if (answer.kind === "problem") return answer.problem.code;
  return (JSON.parse(answer.body) as { policyDecision: { outcome: string } }).policyDecision.outcome;
}

/** Counts the answers by their short form. */
export function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[inShort(answer)] = (counts[inShort(answer)] ?? 0) + 1;
  return counts;
}
