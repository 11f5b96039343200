import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { session } from "#lib/identity/tables.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson } from "#test/identity.ts";
import { mailsTo } from "#test/mail.ts";
import { add, Authenticator, newPasskey, outdateProof, passkeysOf, registration, type AssertionOptions } from "#test/passkeys.ts";

useDatabase();

describe("addPasskey", () => {
  test("201 stores what the browser made, with an event and a mail", async () => {
    const person = await newPerson();
    const authenticator = new Authenticator();
    const { status, data } = await add(
      person.credential,
      authenticator.create(await registration(person.credential)),
      " Laptop ",
    );
    expect([status, data]).toMatchObject([201, { name: "Laptop", synced: false }]);
    expect(data).not.toHaveProperty("lastUsedAt");
    const { passkeyId } = data;
    expect(await passkeysOf(person)).toMatchObject([{ id: passkeyId, credentialID: authenticator.credentialId, counter: 1 }]);
    expect(await eventsAbout(passkeyId)).toMatchObject([{ type: "passkey.added", actorId: person.userId, chain: "platform" }]);
    expect((await mailsTo(person.email)).map(({ subject }) => subject)).toEqual(["A passkey was added to your account"]);
  });

  test.each<readonly [string, AssertionOptions]>([
    ["without user verification", { verified: false }],
    ["for another relying party", { rpId: "evil.example" }],
    ["from another origin", { origin: "https://evil.example" }],
  ])("made %s is refused, and so is its challenge afterwards", async (_, how) => {
    const person = await newPerson();
    const issued = await registration(person.credential);
    const authenticator = new Authenticator();
    const refused = await add(person.credential, authenticator.create(issued, how));
    expect([refused.status, refused.problem.errors?.[0]?.pointer]).toEqual([400, "/credential"]);
    expect((await add(person.credential, authenticator.create(issued))).status).toBe(400);
    expect(await passkeysOf(person)).toEqual([]);
  });

  test("refuses a passkey of another person, and a challenge of another session", async () => {
    const [one, two] = [await newPerson(), await newPerson()];
    const { authenticator } = await newPasskey(one.credential);
    const taken = await add(two.credential, authenticator.create(await registration(two.credential)));
    expect(taken.problem.code).toBe("conflict");
    const foreign = new Authenticator().create(await registration(one.credential));
    expect((await add(two.credential, foreign)).status).toBe(400);
  });

  test("428 in a session whose proof of identity is older than five minutes", async () => {
    const person = await newPerson();
    const made = new Authenticator().create(await registration(person.credential));
    await outdateProof(person);
    expect((await add(person.credential, made)).problem).toMatchObject({ status: 428, code: "step_up_required" });
    expect(await passkeysOf(person)).toEqual([]);
  });

  test("adds no passkey if the session ends during the registration", async () => {
    const person = await newPerson();
    const made = new Authenticator().create(await registration(person.credential));
    const adding = await database().transaction(async (tx) => {
      await tx.delete(session).where(eq(session.userId, person.userId));
      // Other connections still see the session until this transaction commits.
      return [add(person.credential, made)];
    });
    expect((await adding[0]!).problem.code).toBe("session_expired");
    expect(await passkeysOf(person)).toEqual([]);
  });

  test("400 points at an empty name", async () => {
    const { credential } = await newPerson();
    const { problem } = await add(credential, new Authenticator().create("YQ"), " ");
    expect(problem.errors?.[0]?.pointer).toBe("/name");
  });
});
