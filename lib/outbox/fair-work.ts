/** Owners and hosts that have all their places now; the next row must be of none of them. */
export type Full = { readonly owners: readonly string[]; readonly hosts: readonly string[] };

export type Turns<Row> = {
  /** How many rows are worked on at the same time, and at most how many of one owner. */
  readonly atOnce: number;
  readonly each: number;
  /** The number of rows of one call, which also takes no row any more after LEASING_MS. */
  readonly batch: number;
  readonly lease: (full: Full) => Promise<Row | null>;
  readonly keysOf: (row: Row) => { readonly owner: string; readonly host: string };
  /** How many rows of a host may be under way. */
  readonly placesOf: (host: string) => number;
  readonly work: (row: Row) => Promise<void>;
};

class Running {
  readonly #counts = new Map<string, number>();

  change(name: string, by: 1 | -1): void {
    const count = (this.#counts.get(name) ?? 0) + by;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }

  full(placesOf: (name: string) => number): string[] {
    return [...this.#counts].filter(([name, count]) => count >= placesOf(name)).map(([name]) => name);
  }
}

/** So that the next call begins again with all places, although some rows became due again and again in this one. */
const LEASING_MS = 5_000;

/** Works on leased rows so that slow rows of one owner or one host do not delay others. Returns the number of rows. */
export async function workFairly<Row>({ atOnce, each, batch, lease, keysOf, placesOf, work }: Turns<Row>): Promise<number> {
  const [owners, hosts] = [new Running(), new Running()];
  const until = performance.now() + LEASING_MS;
  let tried = 0;
  let leasing: Promise<unknown> = Promise.resolve();
  const take = async (): Promise<Row | null> => {
    if (tried >= batch || performance.now() > until) return null;
    const row = await lease({ owners: owners.full(() => each), hosts: hosts.full(placesOf) });
    if (row === null) return null;
    const { owner, host } = keysOf(row);
    owners.change(owner, 1);
    hosts.change(host, 1);
    tried += 1;
    return row;
  };
  const worker = async (): Promise<void> => {
    for (;;) {
      // One lease at a time, so that each sees the places that the one before took.
      const taking = leasing.then(take);
      leasing = taking.catch(() => null);
      const row = await taking;
      if (row === null) return;
      const { owner, host } = keysOf(row);
      try {
        await work(row);
      } finally {
        owners.change(owner, -1);
        hosts.change(host, -1);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return tried;
}

const KNOWN_MAX = 1_000;

/** Remembers the hosts that answered last time; only these may have `most` rows under way at once, others one. */
export function provenHosts(most: number) {
  const proven = new Set<string>();
  return {
    placesOf: (host: string): number => (proven.has(host) ? most : 1),
    note(host: string, answered: boolean): void {
      if (!answered) proven.delete(host);
      else if (proven.size < KNOWN_MAX) proven.add(host);
    },
  };
}
