import type { Tx } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { lockPersonOf, type Person } from "#lib/identity/passkey-store.ts";
import { Problem } from "#lib/problem.ts";

/**
 * The person behind a session that changes how he signs in, read again under the locks: a session that was ended meanwhile changes
 * nothing, and two requests do not take away the last two ways in at once.
 * @throws Problem session_expired, banned
 */
export async function lockPerson(tx: Tx, { userId, sessionId }: Pick<SessionCaller, "userId" | "sessionId">): Promise<Person> {
  const person = await lockPersonOf(tx, userId, sessionId);
  if (!person) throw new Problem("session_expired", { detail: "This session has ended. Sign in again." });
  if (person.banned) throw new Problem("banned", { detail: "This account is banned. Ask the platform's support." });
  return person;
}
