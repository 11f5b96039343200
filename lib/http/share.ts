export type Share = {
  readonly most: number;
  readonly each: number;
  /** How many of the `most` places are reserved for owners that have no place yet. */
  readonly kept: number;
};

/** The owner has `own` places now, and all owners together have `all`. */
export const hasPlace = (own: number, all: number, { most, each, kept }: Share): boolean =>
  own < each && all < (own === 0 ? most : most - kept);

/** A name whose count is zero is removed, so that memory stays small. */
export class Counts {
  readonly #counts = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string, change: 1 | -1): void {
    const count = this.of(name) + change;
    this.#total += change;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }
}
