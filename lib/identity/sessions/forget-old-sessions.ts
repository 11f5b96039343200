import { deleteOld } from "#lib/db/delete-old.ts";
import { endingTables } from "#lib/identity/sessions/session-store.ts";

/** Deletes expired rows, which better-auth may leave; returns their number. */
export async function forgetOldSessions(): Promise<number> {
  let gone = 0;
  for (const { expiresAt } of endingTables) gone += await deleteOld(expiresAt, 0);
  return gone;
}
