import { describe, expect, test } from "vitest";
import * as contract from "#lib/identity/sessions/contract.ts";
import { endSession } from "#lib/identity/sessions/end-session.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { eventsAbout } from "#test/audit.ts";
import { callerOf } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson, signIn } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const end = (as: Credential, id: string, key?: string) =>
  send(contract.endSession, endSession, { as, id, body: {}, ...(key !== undefined && { key }) });
const codeOf = async (as: Credential) => (await send(contract.getSession, getSession, { as })).problem.code;

describe("endSession", () => {
  test("an ended session is refused on the next request", async () => {
    const person = await newPerson();
    const other = await signIn(person.email);
    const { sessionId } = await callerOf(other);
    expect((await end(person.credential, sessionId)).data).toEqual({ endedCount: 1 });
    expect(await codeOf(other)).toBe("session_expired");
    expect(await codeOf(person.credential)).toBeUndefined();
    expect((await end(person.credential, sessionId)).problem.code).toBe("not_found");
    expect(await eventsAbout(sessionId)).toMatchObject([{ type: "session.ended", actorId: person.userId }]);
  });

  test("409 for the own session, which ends by signing out, and 404 for another person's", async () => {
    const [person, stranger] = [await newPerson(), await newPerson()];
    const [own, foreign] = [await callerOf(person.credential), await callerOf(stranger.credential)];
    expect((await end(person.credential, own.sessionId)).problem.code).toBe("conflict");
    expect((await end(person.credential, foreign.sessionId)).problem.code).toBe("not_found");
    expect(await codeOf(stranger.credential)).toBeUndefined();
  });

  test("a retry with the same idempotency key gets the same answer and is recorded once", async () => {
    const person = await newPerson();
    const { sessionId } = await callerOf(await signIn(person.email));
    const first = await end(person.credential, sessionId, "end-once");
    const again = await end(person.credential, sessionId, "end-once");
    expect([again.status, again.headers.get("idempotent-replayed"), again.data]).toEqual([200, "true", first.data]);
    expect(await eventsAbout(sessionId)).toHaveLength(1);
  });
});
