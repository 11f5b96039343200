import { keyReused } from "#lib/command/idempotency.ts";
import { AskedIntent, type NamedIntent } from "#lib/payment-intent.ts";
import type { Answer, Item } from "#lib/payments/queue-item.ts";
import { nameIntent } from "#lib/payments/name-intent.ts";
import { AuthorizeQueue } from "#lib/payments/queue.ts";

/* The queue of authorize requests without a database. The test sees the items of each batch, and decides when a batch ends. */

let count = 0;

export function item(
  organizationId = "org_a",
  mandateId = `${organizationId} mandate`,
  key = `key-${++count}`,
  fingerprint = "same",
): Item {
  const asked = { seller: { sellerId: "sel_a" }, amount: "1", asset: "USDC", expiresAt: "2026-11-21T12:00:00Z" };
  const intent = nameIntent(AskedIntent.parse(asked), key);
  const asker = { kind: "key", subjectId: "sa_a", keyId: "key" } as const;
  const scope = { organizationId, environment: "sandbox", mandateId } as const;
  return { ...scope, slot: `${organizationId} ${key}`, fingerprint, idempotencyKey: key, asker, intent, requestId: "req_a" };
}

const allowed = ({ intentId }: NamedIntent): Answer => ({
  kind: "reply",
  status: 200,
  body: JSON.stringify({ policyDecision: { outcome: "allow", intentId } }),
  replayed: false,
});

export type Open = { readonly items: readonly Item[]; end(error?: Error): void };

/** A queue whose batches stay open until the test ends them. */
export function openQueue() {
  const batches: Open[] = [];
  const queue = new AuthorizeQueue(
    (items) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => {
          batches.splice(batches.indexOf(open), 1);
          if (error === undefined) resolve(items.map(({ intent }) => allowed(intent)));
          else reject(error);
        };
        const open: Open = { items, end };
        batches.push(open);
      }),
    keyReused,
  );
  // Two turns of the event loop are needed: the end of a batch wakes the queue only after the first setImmediate was scheduled.
  const turn = () => new Promise<void>((resolve) => void setImmediate(() => setImmediate(resolve)));
  /** Ends one batch after another until the queue is empty. */
  const finish = async (): Promise<void> => {
    for (await turn(); batches.length > 0; await turn()) batches[0]!.end();
  };
  return { queue, batches, turn, finish };
}

export const many = (length: number, make: () => Item): Item[] => Array.from({ length }, make);
