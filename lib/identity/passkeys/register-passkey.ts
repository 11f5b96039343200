import { createHash } from "node:crypto";
import { generateRegistrationOptions } from "@simplewebauthn/server";
import { clock, transact } from "#lib/audit/transact.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import { CHALLENGE_MS, CHALLENGES_PER_MINUTE, descriptorsOf } from "#lib/identity/passkeys/passkey-challenge.ts";
import type * as contract from "#lib/identity/passkeys/contract.ts";
import { PasskeyCreationOptions } from "#lib/identity/passkey-schema.ts";
import { insertPasskeyChallenge, passkeysOf } from "#lib/identity/passkeys/store.ts";
import { requireProved } from "#lib/identity/passkeys/fresh-proof.ts";
import { algorithms, relyingParty } from "#lib/identity/passkeys/relying-party.ts";
import { Problem } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";

export const PASSKEYS_MAX = 20;

/** Ignores the idempotency key, because every request gets its own challenge. */
export const registerPasskey: Handler<typeof contract.registerPasskey> = async (_, { caller }) => {
  const { userId, sessionId } = caller;
  await countAttempt("passkeyChallenge", userId, CHALLENGES_PER_MINUTE);
  return transact(async (tx) => {
    const now = await clock(tx);
    await requireProved(tx, caller, now);
    const person = await lockPerson(tx, caller);
    const passkeys = await passkeysOf(tx, userId);
    if (passkeys.length >= PASSKEYS_MAX) throw tooMany();
    const { id, name } = relyingParty();
    const options = await generateRegistrationOptions({
      rpID: id,
      rpName: name,
      // Authenticators may give out this user handle without verifying the person, so it must not reveal who the person is.
      userID: new Uint8Array(createHash("sha256").update(`passkey\n${userId}`).digest()),
      userName: person.email,
      userDisplayName: person.name,
      attestationType: "none",
      supportedAlgorithmIDs: algorithms,
      timeout: CHALLENGE_MS,
      excludeCredentials: descriptorsOf(passkeys),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
    const expiresAt = new Date(now.getTime() + CHALLENGE_MS);
    const { challenge } = options;
    await insertPasskeyChallenge(tx, {
      challenge,
      kind: "registration",
      nonce: null,
      checkoutIntentId: null,
      sessionId,
      userId,
      expiresAt,
    });
    return { options: PasskeyCreationOptions.parse(options), expiresAt: toWire(expiresAt) };
  });
};

const tooMany = (): Problem =>
  new Problem("conflict", { detail: `You have ${PASSKEYS_MAX} passkeys, which is the maximum. Remove one first.` });
