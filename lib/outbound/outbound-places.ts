import { Counts, hasPlace, type Share } from "#lib/http/share.ts";

export type PlaceLimits = {
  /** Running requests to all hosts. `each` is the limit per organization. */
  readonly total: Share;
  readonly host: Share;
  readonly waiting: Share;
  readonly waitingForHost: Share;
  readonly waitMs: number;
};

type Waiter = { readonly host: string; readonly organization: string; readonly go: () => void };

const pair = (host: string, organization: string): string => `${host} ${organization}`;

class Taken {
  readonly #organizations = new Counts();
  readonly #hosts = new Counts();
  readonly #pairs = new Counts();

  add(host: string, organization: string, change: 1 | -1): void {
    this.#organizations.add(organization, change);
    this.#hosts.add(host, change);
    this.#pairs.add(pair(host, organization), change);
  }

  mayAdd(host: string, organization: string, all: Share, one: Share): boolean {
    const own = this.#organizations.of(organization);
    const ownAtHost = this.#pairs.of(pair(host, organization));
    return hasPlace(own, this.#organizations.total, all) && hasPlace(ownAtHost, this.#hosts.of(host), one);
  }
}

/** Organizations take turns and have limits, so that one of them with a slow host cannot take the places of all others. */
export class OutboundPlaces {
  readonly #limits: PlaceLimits;
  readonly #running = new Taken();
  readonly #queued = new Taken();
  /** Waiting requests by organization. After an organization's request has left its queue, the organization moves to the end. */
  readonly #lines = new Map<string, Waiter[]>();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** Runs the work when there is room for it. Null if the queue is full or the wait too long; then the work does not run. */
  async use<T>(host: string, organization: string, work: () => Promise<T>): Promise<{ readonly value: T } | null> {
    if (!(await this.#enter(host, organization))) return null;
    try {
      return { value: await work() };
    } finally {
      this.#running.add(host, organization, -1);
      this.#letIn();
    }
  }

  #mayRun(host: string, organization: string): boolean {
    return this.#running.mayAdd(host, organization, this.#limits.total, this.#limits.host);
  }

  #enter(host: string, organization: string): Promise<boolean> {
    if (this.#mayRun(host, organization)) {
      this.#running.add(host, organization, 1);
      return Promise.resolve(true);
    }
    const { waiting, waitingForHost, waitMs } = this.#limits;
    if (!this.#queued.mayAdd(host, organization, waiting, waitingForHost)) return Promise.resolve(false);
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const waiter: Waiter = { host, organization, go };
      const timer = setTimeout(() => {
        this.#take(waiter);
        resolve(false);
      }, waitMs);
      this.#queued.add(host, organization, 1);
      const line = this.#lines.get(organization);
      if (line) line.push(waiter);
      else this.#lines.set(organization, [waiter]);
    });
  }

  #take(waiter: Waiter): void {
    const { host, organization } = waiter;
    const line = this.#lines.get(organization) ?? [];
    line.splice(line.indexOf(waiter), 1);
    this.#lines.delete(organization);
    if (line.length > 0) this.#lines.set(organization, line);
    this.#queued.add(host, organization, -1);
  }

  #nextInTurn(): Waiter | null {
    for (const line of this.#lines.values()) {
      const next = line.find(({ host, organization }) => this.#mayRun(host, organization));
      if (next) return next;
    }
    return null;
  }

  #letIn(): void {
    for (let next = this.#nextInTurn(); next !== null; next = this.#nextInTurn()) {
      this.#take(next);
      this.#running.add(next.host, next.organization, 1);
      next.go();
    }
  }
}
