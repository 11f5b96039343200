import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { account } from "#lib/identity/tables.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson } from "#test/identity.ts";
import { mailsTo } from "#test/mail.ts";
import { newPasskey, outdateProof, passkeysOf, remove } from "#test/passkeys.ts";

useDatabase();

describe("removePasskey", () => {
  test("200 removes it with an event and a mail, and afterwards it is not found", async () => {
    const person = await newPerson();
    const { passkeyId } = await newPasskey(person.credential);
    expect((await remove(person.credential, passkeyId)).data).toMatchObject({ passkeyId, name: "Laptop" });
    expect((await remove(person.credential, passkeyId)).problem.code).toBe("not_found");
    expect(await passkeysOf(person)).toEqual([]);
    const events = await eventsAbout(passkeyId);
    expect(events.map(({ type, actorId }) => [type, actorId])).toEqual([
      ["passkey.added", person.userId],
      ["passkey.removed", person.userId],
    ]);
    expect((await mailsTo(person.email)).map(({ subject }) => subject).toSorted()).toEqual([
      "A passkey was added to your account",
      "A passkey was removed from your account",
    ]);
  });

  test("404 for another person's passkey, which is not removed", async () => {
    const [one, two] = [await newPerson(), await newPerson()];
    const { passkeyId } = await newPasskey(one.credential);
    expect((await remove(two.credential, passkeyId)).status).toBe(404);
    expect(await passkeysOf(one)).toHaveLength(1);
  });

  test("428 in a session whose proof of identity is older than five minutes, and the passkey stays", async () => {
    const person = await newPerson();
    const { passkeyId } = await newPasskey(person.credential);
    await outdateProof(person);
    expect((await remove(person.credential, passkeyId)).problem).toMatchObject({ status: 428, code: "step_up_required" });
    expect(await passkeysOf(person)).toHaveLength(1);
  });

  test("the last way to sign in cannot be removed, even if the last two are removed at once", async () => {
    const person = await newPerson();
    const keys = [await newPasskey(person.credential), await newPasskey(person.credential)];
    await database().delete(account).where(eq(account.userId, person.userId));
    const replies = await Promise.all(keys.map(({ passkeyId }) => remove(person.credential, passkeyId)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await passkeysOf(person)).toHaveLength(1);
  });

  test("a retry with the same idempotency key gets the same answer", async () => {
    const person = await newPerson();
    const { passkeyId } = await newPasskey(person.credential);
    const first = await remove(person.credential, passkeyId, "remove-once");
    const again = await remove(person.credential, passkeyId, "remove-once");
    expect([again.status, again.headers.get("idempotent-replayed"), again.data]).toEqual([200, "true", first.data]);
  });
});
