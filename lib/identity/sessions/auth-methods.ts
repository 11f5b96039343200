import { env } from "#lib/env.ts";
import { passkeysWork } from "#lib/identity/passkeys/relying-party.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";

type AuthMethods = Session["authMethods"];
export type AuthMethod = keyof AuthMethods;

/** The number of the chain that a wallet must name at sign-in; null if nobody can sign in with a wallet. */
export function siweChainId(): number | null {
  const { SIWE_CHAIN, ENVIRONMENT, CHAINS } = env();
  const chain = SIWE_CHAIN ?? (ENVIRONMENT === "sandbox" ? CHAINS[0]?.chain : undefined);
  return chain === undefined ? null : Number(chain.slice("eip155:".length));
}

/** The endpoints of ways that this installation does not offer answer 404. */
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

/** Only if mail is really sent: a sandbox without SMTP offers the confirmation and does not require it. */
export const requiresVerifiedEmail = (): boolean => mailDelivery() === "smtp";
