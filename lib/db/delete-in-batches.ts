const ROWS = 1_000;

/** Calls `remove`, which deletes at most `rows` rows, until none is left, so that each statement is short. */
export async function deleteInBatches(remove: (rows: number) => Promise<number>): Promise<number> {
  let gone = 0;
  for (;;) {
    const count = await remove(ROWS);
    gone += count;
    if (count < ROWS) return gone;
  }
}
