import type { Tx } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/identity/sessions/contract.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { presentSession } from "#lib/identity/sessions/present-session.ts";
import { readSession } from "#lib/identity/sessions/session-store.ts";
import { Problem } from "#lib/problem.ts";

/** With `tx`, reads the session as that transaction sees it. @throws Problem session_expired */
export async function viewSession(sessionId: string, tx?: Tx): Promise<Session> {
  const facts = await readSession(sessionId, tx);
  if (!facts) throw new Problem("session_expired", { detail: "This session has ended. Sign in again." });
  return presentSession(facts);
}

export const getSession: Handler<typeof contract.getSession> = async (_, { caller }) => ({
  session: await viewSession(caller.sessionId),
});
