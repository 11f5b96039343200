import { verifyAuthenticationResponse, type AuthenticationResponseJSON } from "@simplewebauthn/server";
import { findByCredential, type PasskeyRow } from "#lib/identity/passkeys/store.ts";
import type { PasskeyAssertion } from "#lib/identity/passkey-schema.ts";
import { relyingParty } from "#lib/identity/passkeys/relying-party.ts";
import { invalidField, type Problem } from "#lib/problem.ts";

/** Every refusal is the same, so that the answer does not reveal which check failed. */
export const assertionRefused = (): Problem =>
  invalidField("/assertion", "This passkey did not confirm that it is you. Nothing was changed; try again.");

export type AssertionResult = { readonly passkey: PasskeyRow; readonly counter: number };

/** The caller must then call countUse. @throws Problem invalid_request */
export async function verifyAssertion(assertion: PasskeyAssertion, userId: string, challenge: string): Promise<AssertionResult> {
  const passkey = await findByCredential(userId, assertion.id);
  if (!passkey) throw assertionRefused();
  const { id, origins } = relyingParty();
  const checked = await verifyAuthenticationResponse({
    response: assertion as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID: id,
    requireUserVerification: true,
    credential: {
      id: passkey.credentialID,
      publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64")),
      counter: passkey.counter,
    },
  }).catch(() => null);
  if (!checked?.verified) throw assertionRefused();
  return { passkey, counter: checked.authenticationInfo.newCounter };
}
