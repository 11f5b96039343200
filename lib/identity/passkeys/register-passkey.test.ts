import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/identity/passkeys/contract.ts";
import { PASSKEYS_MAX, registerPasskey } from "#lib/identity/passkeys/register-passkey.ts";
import { passkey } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson } from "#test/identity.ts";
import { newPasskey, outdateProof } from "#test/passkeys.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const register = (as: Credential) => send(contract.registerPasskey, registerPasskey, { as, body: {} });

describe("registerPasskey", () => {
  test("200 asks the authenticator to verify the person, excludes their passkeys, and does not reveal their id", async () => {
    const person = await newPerson();
    const { authenticator } = await newPasskey(person.credential);
    const [one, two] = [await register(person.credential), await register(person.credential)];
    expect(one.data.options).toMatchObject({
      rp: { id: "localhost" },
      user: { name: person.email },
      excludeCredentials: [{ id: authenticator.credentialId, type: "public-key" }],
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    });
    expect(Buffer.from(one.data.options.user.id, "base64url").toString()).not.toContain(person.userId);
    expect(one.data.options.challenge).not.toBe(two.data.options.challenge);
    expect(Date.parse(one.data.expiresAt) - Date.now()).toBeGreaterThan(4 * 60_000);
  });

  test("428 in a session whose proof of identity is older than five minutes, and names how to renew it", async () => {
    const person = await newPerson();
    await newPasskey(person.credential);
    await outdateProof(person);
    expect((await register(person.credential)).problem).toMatchObject({
      status: 428,
      code: "step_up_required",
      nextActions: [{ type: "step_up", metadata: { methods: ["password", "passkey"] } }],
    });
  });

  test("409 for a person who has the maximum number of passkeys", async () => {
    const { userId, credential } = await newPerson();
    const made = { userId, name: "Laptop", publicKey: "", counter: 0, deviceType: "singleDevice", backedUp: false };
    await database()
      .insert(passkey)
      .values(
        Array.from({ length: PASSKEYS_MAX }, (_, at) => ({ ...made, id: `${userId} ${at}`, credentialID: `${userId} ${at}` })),
      );
    const { status, problem } = await register(credential);
    expect([status, problem.code]).toEqual([409, "conflict"]);
  });

  test("429 after thirty in a minute", async () => {
    const { credential } = await newPerson();
    const statuses: number[] = [];
    for (let at = 0; at < 31; at += 1) statuses.push((await register(credential)).status);
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set([200]));
    expect(statuses.at(-1)).toBe(429);
  });
});
