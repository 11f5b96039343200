import { describe, expect, test } from "vitest";
import * as contract from "#lib/identity/sessions/contract.ts";
import { endOtherSessions } from "#lib/identity/sessions/end-other-sessions.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson, signIn } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const endOthers = (as: Credential, key?: string) =>
  send(contract.endOtherSessions, endOtherSessions, { as, body: {}, ...(key !== undefined && { key }) });
const codeOf = async (as: Credential) => (await send(contract.getSession, getSession, { as })).problem.code;

describe("endOtherSessions", () => {
  test("all other sessions of the person end at once, and no session of other people", async () => {
    const [person, stranger] = [await newPerson(), await newPerson()];
    const others = [await signIn(person.email), await signIn(person.email)];
    expect((await endOthers(person.credential)).data).toEqual({ endedCount: 2 });
    expect(await Promise.all(others.map(codeOf))).toEqual(["session_expired", "session_expired"]);
    expect(await Promise.all([person.credential, stranger.credential].map(codeOf))).toEqual([undefined, undefined]);
    expect((await endOthers(person.credential)).data).toEqual({ endedCount: 0 });
    expect((await eventsAbout(person.userId)).filter(({ type }) => type === "session.othersEnded")).toHaveLength(1);
  });

  test("a retry with the same idempotency key does not end sessions that were opened meanwhile", async () => {
    const person = await newPerson();
    await signIn(person.email);
    const first = await endOthers(person.credential, "others-once");
    const since = await signIn(person.email);
    const again = await endOthers(person.credential, "others-once");
    expect([again.headers.get("idempotent-replayed"), first.data, again.data]).toEqual([
      "true",
      { endedCount: 1 },
      { endedCount: 1 },
    ]);
    expect(await codeOf(since)).toBeUndefined();
  });
});
