import { statesOf } from "#lib/approvals/store.ts";
import { database } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { perProcess } from "#lib/process.ts";
import { Counts, hasPlace } from "#lib/http/share.ts";
import { Problem } from "#lib/problem.ts";

const EVERY_MS = 500;
/** Limits each organization and each owner, who may own several. The last `kept` places are for those that have no place. */
const PER_ORGANIZATION = { most: 2_000, each: 200, kept: 500 };
const PER_PERSON = { most: 2_000, each: 300, kept: 500 };

type Waiter = {
  readonly checkoutIntentId: string;
  readonly organizationId: string;
  /** The id that ownerOf gives. The waiting requests of all organizations with the same id are counted together. */
  readonly personId: string;
  readonly state: string;
  readonly wake: () => void;
};

/** One query every half second serves all waiting requests, so that a waiting request uses no database connection. */
class Waiters {
  readonly #waiting = new Set<Waiter>();
  readonly #organizations = new Counts();
  readonly #people = new Counts();
  #timer: NodeJS.Timeout | null = null;
  #ended = false;

  /** @throws Problem overloaded */
  async until(wait: Omit<Waiter, "wake">, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#ended) return;
    const { total } = this.#organizations;
    const organization = hasPlace(this.#organizations.of(wait.organizationId), total, PER_ORGANIZATION);
    if (!organization || !hasPlace(this.#people.of(wait.personId), total, PER_PERSON)) {
      throw new Problem("overloaded", { detail: "Too many requests wait already. Ask again in a moment.", retryAfterSeconds: 1 });
    }
    let end: NodeJS.Timeout | undefined;
    let waiter: Waiter | undefined;
    await new Promise<void>((wake) => {
      waiter = { ...wait, wake };
      this.#waiting.add(waiter);
      this.#count(wait, 1);
      end = setTimeout(wake, milliseconds);
      signal.addEventListener("abort", () => wake(), { once: true });
      this.#plan();
    });
    clearTimeout(end);
    this.#waiting.delete(waiter!);
    this.#count(wait, -1);
  }

  #count({ organizationId, personId }: Omit<Waiter, "wake">, change: 1 | -1): void {
    this.#organizations.add(organizationId, change);
    this.#people.add(personId, change);
  }

  get size(): number {
    return this.#waiting.size;
  }

  end(): void {
    this.#ended = true;
    for (const { wake } of this.#waiting) wake();
  }

  #plan(): void {
    if (this.#timer || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => void this.#look(), EVERY_MS);
  }

  async #look(): Promise<void> {
    const waiting = [...this.#waiting];
    try {
      if (waiting.length > 0) {
        const states = await statesOf(database(), [...new Set(waiting.map(({ checkoutIntentId }) => checkoutIntentId))]);
        for (const { checkoutIntentId, state, wake } of waiting) if (states.get(checkoutIntentId) !== state) wake();
      }
    } catch (error) {
      log().warn({ error }, "Waiting checkouts could not be read; they are asked for again");
    }
    this.#timer = null;
    this.#plan();
  }
}

const waiters = (): Waiters => perProcess("commerce/wait-for-checkout", () => new Waiters());

export const waitForChange = (wait: Omit<Waiter, "wake">, milliseconds: number, signal: AbortSignal): Promise<void> =>
  waiters().until(wait, milliseconds, signal);

export const waitingRequests = (): number => waiters().size;

/** Wakes all waiting requests at shutdown, which then answer with the current state. */
export const endWaits = (): void => waiters().end();
