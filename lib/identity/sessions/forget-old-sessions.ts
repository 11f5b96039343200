import { deleteEndedSessions, deleteEndedVerifications } from "#lib/identity/sessions/session-store.ts";

const AT_ONCE = 1_000;
/** A backlog of years ends over several runs. */
const ROUNDS_MAX = 50;

/** Deletes sessions and one-time tokens whose time is over; better-auth leaves them. Answers how many. */
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
