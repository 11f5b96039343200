import { deleteEnded, endingTables } from "#lib/identity/sessions/session-store.ts";

const AT_ONCE = 1_000;
/** Batches of one kind of row in one run; later runs delete what is left. */
const ROUNDS_MAX = 50;

/** Deletes expired rows, which better-auth may leave; returns their number. */
export async function forgetOldSessions(): Promise<number> {
  let gone = 0;
  for (const table of endingTables) {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const count = await deleteEnded(table, AT_ONCE);
      gone += count;
      if (count < AT_ONCE) break;
    }
  }
  return gone;
}
