import { statesOf } from "#lib/approvals/store.ts";
import { database } from "#lib/db/client.ts";
import { inTurn } from "#lib/db/turns.ts";
import { env } from "#lib/env.ts";
import { ownerOf } from "#lib/identity/member-store.ts";
import { log } from "#lib/telemetry/log.ts";
import { perProcess } from "#lib/process.ts";
import { Counts, hasPlace } from "#lib/http/share.ts";
import { Problem } from "#lib/problem.ts";

const EVERY_MS = 500;
/** Limits each organization and each owner, who may own several. The last `kept` places are for those that have no place. */
const PER_ORGANIZATION = { most: 2_000, each: 200, kept: 500 };
const PER_PERSON = { most: 2_000, each: 300, kept: 500 };

/** All requests of one person that begin or end to wait use at most a quarter of the connections. */
const readingMax = (): number => Math.max(1, Math.floor(env().DATABASE_POOL / 4));
/** Shorter than the time limit of an HTTP request (DEADLINE_MS). */
const READING_WAIT_MS = 20_000;

type Wait = { readonly checkoutIntentId: string; readonly state: string };
type Waiter = Wait & { readonly wake: () => void };

const overloaded = (limit: string): Problem =>
  new Problem("overloaded", { detail: "Too many requests wait already. Ask again in a moment.", retryAfterSeconds: 1, limit });

/** One query every half second serves all waiting requests, so that a waiting request uses no database connection. */
class Waiters {
  readonly #waiting = new Set<Waiter>();
  /** The look-ups of owners that run now. */
  readonly #owners = new Map<string, Promise<string>>();
  #turn = 0;
  readonly #organizations = new Counts();
  readonly #people = new Counts();
  #timer: NodeJS.Timeout | null = null;
  #ended = false;

  /** Refuses an organization without a free place before any query. @throws Problem overloaded */
  async within<T>(organizationId: string, work: (reading: Reading) => Promise<T>): Promise<T> {
    if (!hasPlace(this.#organizations.of(organizationId), this.#organizations.total, PER_ORGANIZATION))
      throw overloaded("checkoutWaits.organization");
    this.#organizations.add(organizationId, 1);
    try {
      const personId = await this.#ownerOf(organizationId);
      // The place that this request has in its organization does not count.
      if (!hasPlace(this.#people.of(personId), this.#organizations.total - 1, PER_PERSON))
        throw overloaded("checkoutWaits.person");
      this.#people.add(personId, 1);
      try {
        return await work((read) => this.#inTurn(personId, read));
      } finally {
        this.#people.add(personId, -1);
      }
    } finally {
      this.#organizations.add(organizationId, -1);
    }
  }

  /** Requests that ask at the same time share one query. */
  #ownerOf(organizationId: string): Promise<string> {
    const running = this.#owners.get(organizationId);
    if (running) return running;
    const asked = ownerOf(database(), organizationId).finally(() => this.#owners.delete(organizationId));
    this.#owners.set(organizationId, asked);
    return asked;
  }

  #inTurn<T>(personId: string, read: () => Promise<T>): Promise<T> {
    this.#turn = (this.#turn + 1) % readingMax();
    return inTurn(`commerce/wait ${personId} ${this.#turn}`, read, { waitMs: READING_WAIT_MS });
  }

  async until(wait: Wait, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#ended) return;
    let end: NodeJS.Timeout | undefined;
    let waiter: Waiter | undefined;
    await new Promise<void>((wake) => {
      waiter = { ...wait, wake };
      this.#waiting.add(waiter);
      end = setTimeout(wake, milliseconds);
      signal.addEventListener("abort", () => wake(), { once: true });
      this.#plan();
    });
    clearTimeout(end);
    this.#waiting.delete(waiter!);
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

/** Gives its reads of the database to `reading`, so that many waiting requests of one person do not delay anybody else. */
export type Reading = <T>(read: () => Promise<T>) => Promise<T>;

/** Runs `work` in a place among the waiting requests of its organization and person. @throws Problem overloaded */
export const inWaitingPlace = <T>(organizationId: string, work: (reading: Reading) => Promise<T>): Promise<T> =>
  waiters().within(organizationId, work);

export const waitForChange = (wait: Wait, milliseconds: number, signal: AbortSignal): Promise<void> =>
  waiters().until(wait, milliseconds, signal);

export const waitingRequests = (): number => waiters().size;

/** Wakes all waiting requests at shutdown, which then answer with the current state. */
export const endWaits = (): void => waiters().end();
