import { verifyRegistrationResponse, type RegistrationResponseJSON } from "@simplewebauthn/server";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import { claimedChallenge } from "#lib/identity/passkeys/passkey-challenge.ts";
import type * as contract from "#lib/identity/passkeys/contract.ts";
import { knownTransports, type PasskeyCredential } from "#lib/identity/passkey-schema.ts";
import { insertPasskey, passkeysOf, takeChallenge } from "#lib/identity/passkeys/store.ts";
import { presentPasskey } from "#lib/identity/passkeys/present-passkey.ts";
import { requireProved } from "#lib/identity/passkeys/fresh-proof.ts";
import { PASSKEYS_MAX } from "#lib/identity/passkeys/register-passkey.ts";
import { algorithms, relyingParty } from "#lib/identity/passkeys/relying-party.ts";
import { securityMail } from "#lib/identity/security-mail.ts";
import { newId } from "#lib/ids.ts";
import { queueMail } from "#lib/mail/queue-mail.ts";
import { invalidField, Problem } from "#lib/problem.ts";

/** Ignores the idempotency key, because the challenge can be used only once anyway. */
export const addPasskey: Handler<typeof contract.addPasskey> = async ({ body: { name, credential } }, { caller }) => {
  const { userId, sessionId } = caller;
  await requireProved(database(), caller, await clock(database()));
  const claimed = claimedChallenge(credential.response.clientDataJSON);
  const issued = claimed === null ? null : await takeChallenge("registration", sessionId, claimed);
  const made = issued && (await verify(credential, issued.challenge));
  if (!made) throw invalidField("/credential", "This passkey was not made for this page. Nothing was added; try again.");
  return transact(async (tx) => {
    const person = await lockPerson(tx, caller);
    const now = await clock(tx);
    const taken = (await passkeysOf(tx, userId)).length >= PASSKEYS_MAX;
    const row = taken ? null : await insertPasskey(tx, { ...made, id: newId("passkey"), userId, name, createdAt: now });
    if (!row)
      throw new Problem("conflict", { detail: "This passkey is in use already, or you have the maximum number of passkeys." });
    const event = { actorId: userId, organizationId: null, subjectId: userId, entityType: "passkey", entityId: row.id };
    audit(tx, { ...event, type: "passkey.added", metadata: { name, synced: row.backedUp } }, now);
    await queueMail(tx, securityMail("passkeyAdded", person.email));
    return presentPasskey(row);
  });
};

async function verify(credential: PasskeyCredential, challenge: string) {
  const { id, origins } = relyingParty();
  const checked = await verifyRegistrationResponse({
    response: credential as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID: id,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => null);
  if (!checked?.verified) return null;
  const { aaguid, credential: made, credentialBackedUp, credentialDeviceType } = checked.registrationInfo;
  return {
    credentialID: made.id,
    publicKey: Buffer.from(made.publicKey).toString("base64"),
    counter: made.counter,
    deviceType: credentialDeviceType,
    backedUp: credentialBackedUp,
    transports: knownTransports(credential.response.transports ?? []).join(","),
    aaguid,
  };
}
