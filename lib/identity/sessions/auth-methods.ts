import { env } from "#lib/env.ts";
import { passkeysWork } from "#lib/identity/passkeys/relying-party.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";

type AuthMethods = Session["authMethods"];
export type AuthMethod = keyof AuthMethods;

/** The number of the chain that a wallet must name at sign-in; null if wallets cannot sign in. */
export function siweChainId(): number | null {
  const { SIWE_CHAIN, ENVIRONMENT, CHAINS } = env();
  const chain = SIWE_CHAIN ?? (ENVIRONMENT === "sandbox" ? CHAINS[0]?.chain : undefined);
  return chain === undefined ? null : Number(chain.slice("eip155:".length));
}

/** The sign-in methods of this installation, the same for everybody. The endpoints of other methods are not served. */
export function authMethods(): AuthMethods {
  const { GOOGLE_CLIENT_ID, GITHUB_CLIENT_ID } = env();
  return {
    emailPassword: true,
    magicLink: mailDelivery() !== "none",
    passkey: passkeysWork(),
    wallet: siweChainId() !== null,
    google: GOOGLE_CLIENT_ID !== undefined,
    github: GITHUB_CLIENT_ID !== undefined,
  };
}

/** Whether an account needs a confirmed address: only if mail is really sent. A sandbox without SMTP offers it but does not require it. */
export const requiresVerifiedEmail = (): boolean => mailDelivery() === "smtp";
