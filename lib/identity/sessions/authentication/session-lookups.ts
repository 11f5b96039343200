import { findLiveSession, type SessionRow } from "#lib/identity/caller-store.ts";
import { perProcess } from "#lib/process.ts";
import { RENEWAL_SECONDS, SESSION_SECONDS } from "#lib/identity/sessions/session-cookie.ts";

type Lookup = { waiting: Promise<SessionRow | null> | null; running: Promise<unknown> };

const lookups = (): Map<string, Lookup> => perProcess("identity/sessions/authentication/session-lookups", () => new Map());

/**
 * Requests of one session that wait at the same time share one query, so that they use one connection. The query begins after
 * the previous one, so that no caller gets a row that was read before it asked.
 */
export function lookUpSession(token: string): Promise<SessionRow | null> {
  const state = lookups().get(token) ?? { waiting: null, running: Promise.resolve() };
  lookups().set(token, state);
  return (state.waiting ??= state.running.then(() => {
    state.waiting = null;
    const found = findLiveSession(token, RENEWAL_SECONDS, SESSION_SECONDS);
    const ended = found.then(
      () => {},
      () => {},
    );
    state.running = ended;
    void ended.then(() => {
      if (state.running === ended && state.waiting === null) lookups().delete(token);
    });
    return found;
  }));
}
