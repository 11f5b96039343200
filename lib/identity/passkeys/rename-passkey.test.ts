import { describe, expect, test } from "vitest";
import * as contract from "#lib/identity/passkeys/contract.ts";
import { renamePasskey } from "#lib/identity/passkeys/rename-passkey.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson } from "#test/identity.ts";
import { newPasskey, outdateProof, passkeysOf } from "#test/passkeys.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const rename = (as: Credential, id: string, name: string, key?: string) =>
  send(contract.renamePasskey, renamePasskey, { as, id, body: { name }, ...(key !== undefined && { key }) });

describe("renamePasskey", () => {
  test("200 changes the name and nothing else, also without a recent proof of identity", async () => {
    const person = await newPerson();
    const { passkeyId } = await newPasskey(person.credential);
    const [before] = await passkeysOf(person);
    await outdateProof(person);
    const { status, data } = await rename(person.credential, passkeyId, " Phone ");
    expect([status, data]).toMatchObject([200, { passkeyId, name: "Phone", synced: false }]);
    expect(await passkeysOf(person)).toEqual([{ ...before, name: "Phone" }]);
  });

  test("404 for another person's passkey, which keeps its name", async () => {
    const [one, two] = [await newPerson(), await newPerson()];
    const { passkeyId } = await newPasskey(one.credential);
    expect((await rename(two.credential, passkeyId, "Mine")).status).toBe(404);
    expect(await passkeysOf(one)).toMatchObject([{ name: "Laptop" }]);
  });

  test("400 points at a name that is empty or too long", async () => {
    const { credential } = await newPerson();
    const { passkeyId } = await newPasskey(credential);
    for (const name of [" ", "x".repeat(61)]) {
      expect((await rename(credential, passkeyId, name)).problem.errors?.[0]?.pointer).toBe("/name");
    }
  });

  test("a retry with the same idempotency key gets the same answer and does not undo a later name", async () => {
    const person = await newPerson();
    const { passkeyId } = await newPasskey(person.credential);
    const first = await rename(person.credential, passkeyId, "Phone", "rename-once");
    await rename(person.credential, passkeyId, "Tablet");
    const again = await rename(person.credential, passkeyId, "Phone", "rename-once");
    expect([again.headers.get("idempotent-replayed"), again.data]).toEqual(["true", first.data]);
    expect(await passkeysOf(person)).toMatchObject([{ name: "Tablet" }]);
  });
});
