import { passkey } from "@better-auth/passkey";
import { APIError } from "better-auth/api";
import { noteSignIn } from "#lib/identity/passkeys/store.ts";
import { relyingParty } from "#lib/identity/passkeys/relying-party.ts";

/** better-auth does not require that the authenticator has verified the person, so afterVerification checks it. */
export function passkeySignIn() {
  const { id, name, origins } = relyingParty();
  return passkey({
    rpID: id,
    rpName: name,
    origin: origins,
    advanced: { webAuthnChallengeCookie: "passkey_challenge" },
    authentication: {
      afterVerification: async ({ verification: { authenticationInfo } }) => {
        if (!authenticationInfo.userVerified) {
          throw new APIError("UNAUTHORIZED", { message: "The passkey did not verify who used it." });
        }
        await noteSignIn(authenticationInfo.credentialID);
      },
    },
  });
}
