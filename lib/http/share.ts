export type Share = {
  readonly most: number;
  readonly each: number;
  /** Of `most`, for whoever has none yet. */
  readonly kept: number;
};

/** Whether there is one more place for somebody who has `own` of all that are taken. */
export const hasPlace = (own: number, all: number, { most, each, kept }: Share): boolean =>
  own < each && all < (own === 0 ? most : most - kept);

/** How many each has; whoever has none is not listed. */
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
