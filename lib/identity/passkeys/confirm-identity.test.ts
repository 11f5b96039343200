import { describe, expect, test } from "vitest";
import { useDatabase } from "#test/database.ts";
import { newPerson, PASSWORD, signIn } from "#test/identity.ts";
import { add, Authenticator, challenge, confirm, newPasskey, outdateProof, registration, remove } from "#test/passkeys.ts";

useDatabase();

describe("confirmIdentity", () => {
  test("an old session neither adds nor removes a passkey before the person proves their identity again", async () => {
    const person = await newPerson();
    const as = person.credential;
    const { passkeyId, authenticator } = await newPasskey(as);
    const early = await registration(as);
    await outdateProof(person);
    expect((await add(as, new Authenticator().create(early))).problem.code).toBe("step_up_required");
    expect((await remove(as, passkeyId)).problem.code).toBe("step_up_required");
    expect((await confirm(as, { password: "not the password" })).problem.errors?.[0]?.pointer).toBe("/password");
    expect((await confirm(as, { assertion: authenticator.sign(await challenge(as), { verified: false }) })).status).toBe(400);
    expect((await remove(as, passkeyId)).problem.code).toBe("step_up_required");
    expect((await confirm(as, { assertion: authenticator.sign(await challenge(as)) })).status).toBe(200);
    expect((await add(as, new Authenticator().create(await registration(as)))).status).toBe(201);
    await outdateProof(person);
    const { status, data } = await confirm(as, { password: PASSWORD });
    expect(status).toBe(200);
    expect(Date.parse(data.expiresAt) - Date.now()).toBeGreaterThan(4 * 60_000);
    expect((await remove(as, passkeyId)).status).toBe(200);
  });

  test("a proof of identity counts only in its own session", async () => {
    const person = await newPerson();
    const { passkeyId } = await newPasskey(person.credential);
    const other = await signIn(person.email);
    await outdateProof(person);
    expect((await confirm(other, { password: PASSWORD })).status).toBe(200);
    expect((await remove(person.credential, passkeyId)).problem.code).toBe("step_up_required");
    expect((await remove(other, passkeyId)).status).toBe(200);
  });

  test("400 for an assertion that is sent twice, and for a challenge of another session or of another person's passkey", async () => {
    const [person, stranger] = [await newPerson(), await newPerson()];
    const { authenticator } = await newPasskey(person.credential);
    const { authenticator: foreign } = await newPasskey(stranger.credential);
    const other = await signIn(person.email);
    const assertion = authenticator.sign(await challenge(person.credential));
    expect((await confirm(person.credential, { assertion })).status).toBe(200);
    for (const [as, refused] of [
      [person.credential, assertion],
      [other, authenticator.sign(await challenge(person.credential))],
      [person.credential, foreign.sign(await challenge(person.credential))],
    ] as const) {
      const { status, problem } = await confirm(as, { assertion: refused });
      expect([status, problem.errors?.[0]?.pointer]).toEqual([400, "/assertion"]);
    }
  });

  test("400 without a password or an assertion, and with both", async () => {
    const { credential } = await newPerson();
    for (const body of [{}, { password: PASSWORD, assertion: new Authenticator().sign("YQ") }])
      expect((await confirm(credential, body)).problem.errors?.[0]?.pointer).toBe("/password");
  });
});
