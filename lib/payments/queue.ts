import { hasPlace } from "#lib/http/share.ts";
import type { Answer, Item } from "#lib/payments/queue-item.ts";
import { approverOf, refusal } from "#lib/payments/queue-item.ts";
import { Problem } from "#lib/problem.ts";

export const bounds = {
  /** The `kept` places are for organizations that have nothing in the queue, so that busy ones cannot fill it. */
  queued: { most: 4096, each: 1024, kept: 1024 },
  batchesOpen: 2,
  itemsPerBatch: 256,
  mandatesPerBatch: 64,
  organizationsPerBatch: 32,
  ageMs: 5_000,
  /** For fewer waiting payments, a second batch opens only if the first is slow, because a batch has a fixed cost. */
  worthASecond: 32,
  /** After this time, an open batch may be waiting for a lock, so a second one may open. */
  slowMs: 50,
} as const;

type QueueEntry = {
  readonly item: Item;
  readonly at: number;
  readonly settle: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
};
/** `answer` is set to null, so that it can be freed even if something still refers to this object. */
type Live = { readonly fingerprint: string; readonly credential: string; answer: Promise<Answer> | null };

function credentialOf({ asker }: Item): string {
  if (asker.kind === "card") return `${asker.connectionId} ${asker.cardId}`;
  return asker.kind === "key" ? asker.keyId : asker.sessionId;
}

/** A batch has at most one payment per checkout, order and approver, because a second would not see the first one's rows. */
const lockedWith = (item: Item): string[] =>
  [item.purchase?.checkoutIntentId, item.purchase?.orderId, approverOf(item)].filter((id) => typeof id === "string");

/** Answers in the order of `items`. */
export type RunBatch = (items: readonly Item[]) => Promise<readonly Answer[]>;

export const overloaded = (limit = "authorize.locks"): Problem =>
  new Problem("overloaded", {
    limit,
    detail: "The service is overloaded. Nothing was stored; ask again in a moment.",
    retryAfterSeconds: 1,
  });

/** Organizations take turns, and no mandate is in two open batches. */
export class AuthorizeQueue {
  readonly #run: RunBatch;
  readonly #keyReused: () => Problem;
  readonly #live = new Map<string, Live>();
  /** Organizations in the order of their turns; a batch moves those that it served to the end. */
  readonly #queues = new Map<string, QueueEntry[]>();
  readonly #busyMandates = new Set<string>();
  readonly #idle: (() => void)[] = [];
  #queued = 0;
  #open = 0;
  #slow = 0;
  #unanswered = 0;
  #woken = false;

  constructor(run: RunBatch, keyReused: () => Problem) {
    this.#run = run;
    this.#keyReused = keyReused;
  }

  get depth(): number {
    return this.#queued;
  }

  /**
   * While an earlier request with the same idempotency key has no answer, this one waits for it, or is refused if it differs. A
   * problem of a request with another credential does not answer this one.
   */
  async submit(item: Item): Promise<Answer> {
    const twin = this.#live.get(item.slot);
    if (twin?.answer) {
      if (twin.fingerprint !== item.fingerprint) return refusal(this.#keyReused());
      const answer = await twin.answer;
      if (answer.kind === "reply") return { ...answer, replayed: true };
      // A problem may be about the first caller's key or session, such as one that was revoked and replaced.
      return answer.kind === "problem" && twin.credential !== credentialOf(item) ? this.submit(item) : answer;
    }
    const queue = this.#queues.get(item.organizationId) ?? [];
    if (!hasPlace(queue.length, this.#queued, bounds.queued)) return refusal(overloaded("authorize.queued"));
    const answer = new Promise<Answer>((settle, fail) => queue.push({ item, at: performance.now(), settle, fail }));
    if (queue.length === 1) this.#queues.set(item.organizationId, queue);
    this.#queued += 1;
    const live: Live = { fingerprint: item.fingerprint, credential: credentialOf(item), answer };
    this.#live.set(item.slot, live);
    this.#wake();
    try {
      return await answer;
    } finally {
      this.#live.delete(item.slot);
      live.answer = null;
    }
  }

  /** Resolves when no item is queued and the items of every batch have their answers. */
  async drained(): Promise<void> {
    if (this.#resting) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    setImmediate(() => {
      this.#woken = false;
      this.#openBatches();
      this.#rest();
    });
  }

  #openBatches(): void {
    while (this.#mayOpen) {
      const batch = this.#nextBatch();
      if (batch.length === 0) break;
      void this.#decide(batch);
    }
  }

  get #mayOpen(): boolean {
    if (this.#open >= bounds.batchesOpen) return false;
    return this.#open === this.#slow || this.#queued >= bounds.worthASecond;
  }

  #rest(): void {
    if (this.#resting) for (const resolve of this.#idle.splice(0)) resolve();
  }

  get #resting(): boolean {
    return this.#queued === 0 && this.#unanswered === 0;
  }

  async #decide(batch: readonly QueueEntry[]): Promise<void> {
    const mandates = new Set(batch.map(({ item }) => item.mandateId));
    for (const mandateId of mandates) this.#busyMandates.add(mandateId);
    this.#open += 1;
    this.#unanswered += 1;
    let slow = false;
    const patience = setTimeout(() => {
      slow = true;
      this.#slow += 1;
      this.#openBatches();
    }, bounds.slowMs);
    const settle = await this.#run(batch.map(({ item }) => item)).then(
      (answers) => () => batch.forEach((waiting, index) => waiting.settle(answers[index] ?? refusal(overloaded()))),
      (error: unknown) => () => batch.forEach((waiting) => waiting.fail(error)),
    );
    clearTimeout(patience);
    if (slow) this.#slow -= 1;
    this.#open -= 1;
    for (const mandateId of mandates) this.#busyMandates.delete(mandateId);
    // Open the next batch first, so that the database works while this process writes this batch's replies.
    this.#openBatches();
    setImmediate(() => {
      settle();
      this.#unanswered -= 1;
      this.#rest();
    });
  }

  #nextBatch(): QueueEntry[] {
    this.#dropOld();
    const batch: QueueEntry[] = [];
    const mandates = new Set<string>();
    const others = new Set<string>();
    const organizations = new Set<string>();
    const exhausted = new Set<string>();
    while (batch.length < bounds.itemsPerBatch && exhausted.size < this.#queues.size) {
      for (const [organizationId, queue] of this.#queues) {
        if (batch.length >= bounds.itemsPerBatch) break;
        if (exhausted.has(organizationId)) continue;
        const fits = organizations.has(organizationId) || organizations.size < bounds.organizationsPerBatch;
        const index = fits ? queue.findIndex(({ item }) => this.#mayJoin(item, mandates, others)) : -1;
        if (index < 0) {
          exhausted.add(organizationId);
          continue;
        }
        const [waiting] = queue.splice(index, 1);
        organizations.add(organizationId);
        mandates.add(waiting!.item.mandateId);
        for (const id of lockedWith(waiting!.item)) others.add(id);
        batch.push(waiting!);
      }
    }
    this.#queued -= batch.length;
    this.#rotate(organizations);
    return batch;
  }

  #mayJoin(item: Item, mandates: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
    const { mandateId } = item;
    if (lockedWith(item).some((id) => others.has(id))) return false;
    return !this.#busyMandates.has(mandateId) && (mandates.has(mandateId) || mandates.size < bounds.mandatesPerBatch);
  }

  /** Moves the organizations that this batch served to the end, so that the next batch begins with the others. */
  #rotate(served: ReadonlySet<string>): void {
    for (const organizationId of served) {
      const queue = this.#queues.get(organizationId) ?? [];
      this.#queues.delete(organizationId);
      if (queue.length > 0) this.#queues.set(organizationId, queue);
    }
  }

  /** Refuses payments that waited too long. This is safe, because nothing was written for them. */
  #dropOld(): void {
    const oldest = performance.now() - bounds.ageMs;
    for (const [organizationId, queue] of this.#queues) {
      while (queue[0] && queue[0].at < oldest) {
        this.#queued -= 1;
        queue.shift()!.settle(refusal(overloaded("authorize.ageMs")));
      }
      if (queue.length === 0) this.#queues.delete(organizationId);
    }
  }
}
