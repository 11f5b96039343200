import type { Tx } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { lockPersonOf, type Person } from "#lib/identity/user-store.ts";
import { Problem } from "#lib/problem.ts";

/**
 * An ended session must change nothing, and two requests must not remove a person's last two ways to sign in.
 * @throws Problem session_expired, banned
 */
export async function lockPerson(tx: Tx, { userId, sessionId }: Pick<SessionCaller, "userId" | "sessionId">): Promise<Person> {
  const person = await lockPersonOf(tx, userId, sessionId);
  if (!person) throw new Problem("session_expired", { detail: "This session has ended. Sign in again." });
  if (person.banned) throw new Problem("banned", { detail: "This account is banned. Ask the platform's support." });
  return person;
}
