const ROWS = 1_000;

/** Repeats `remove`, whose statements delete at most `rows` rows each, so that no statement is long. */
export async function deleteInBatches(remove: (rows: number) => Promise<number>): Promise<number> {
  let gone = 0;
  for (;;) {
    const count = await remove(ROWS);
    gone += count;
    if (count < ROWS) return gone;
  }
}
