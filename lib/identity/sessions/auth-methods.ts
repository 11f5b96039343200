import { env } from "#lib/env.ts";
import { passkeysWork } from "#lib/identity/passkeys/relying-party.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";

type AuthMethods = Session["authMethods"];
export type AuthMethod = keyof AuthMethods;

/** The number of the chain that a wallet must name when it signs in; null where wallets do not sign in. */
export function siweChainId(): number | null {
  const { SIWE_CHAIN, ENVIRONMENT, CHAINS } = env();
  const chain = SIWE_CHAIN ?? (ENVIRONMENT === "sandbox" ? CHAINS[0]?.chain : undefined);
  return chain === undefined ? null : Number(chain.slice("eip155:".length));
}

/** The ways in that this installation has, the same for everybody. A way that is not here is not served either. */
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

/** Whether an account needs a confirmed address: where mail is really sent. In a sandbox without SMTP it is offered, not asked for. */
export const requiresVerifiedEmail = (): boolean => mailDelivery() === "smtp";
