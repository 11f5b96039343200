import { deleteEndedSessions, deleteEndedVerifications } from "#lib/identity/sessions/session-store.ts";

const AT_ONCE = 1_000;
/** The most batches of one run; a larger backlog is deleted over several runs. */
const ROUNDS_MAX = 50;

/** Deletes expired sessions and one-time tokens, which better-auth leaves in the database. Returns the number of rows. */
export async function forgetOldSessions(): Promise<number> {
  let gone = 0;
  for (const remove of [deleteEndedSessions, deleteEndedVerifications]) {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const count = await remove(AT_ONCE);
      gone += count;
      if (count < AT_ONCE) break;
    }
  }
  return gone;
}
