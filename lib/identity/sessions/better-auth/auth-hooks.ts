import type { BetterAuthOptions } from "better-auth";
import type { AuthMethod } from "#lib/identity/sessions/auth-methods.ts";
import { database } from "#lib/db/client.ts";
import { noteFirstProof } from "#lib/identity/sessions/first-proof.ts";
import { deletePasskeysOf } from "#lib/identity/passkeys/store.ts";
import { SESSION_SECONDS } from "#lib/identity/sessions/session-cookie.ts";
import { deleteSession } from "#lib/identity/sessions/session-store.ts";
import { endWaysIn, newestOrganizationOf, passwordHashOf } from "#lib/identity/user-store.ts";

type Hooks = NonNullable<BetterAuthOptions["databaseHooks"]>;
type Context = { readonly path?: string; readonly params?: unknown } | null | undefined;

const NAME_MAX = 200;

const ways: Readonly<Record<string, AuthMethod>> = {
  "/sign-in/email": "emailPassword",
  "/magic-link/verify": "magicLink",
  "/siwe/verify": "wallet",
  "/passkey/verify-authentication": "passkey",
};

/** Throws for an unknown endpoint, so that no session is created. */
export function providerOf(context: Context): AuthMethod {
  const path = context?.path ?? "";
  const id = (context?.params as { id?: unknown } | undefined)?.id;
  const way = path.startsWith("/callback/") ? (id === "google" || id === "github" ? id : undefined) : ways[path];
  if (way === undefined) throw new Error(`Not a way in: ${path}`);
  return way;
}

/** The password may have been deleted during its comparison; code that deletes it after this check deletes the session too. */
async function endWithoutPassword({ id, userId }: { readonly id: string; readonly userId: string }): Promise<void> {
  if ((await passwordHashOf(userId)) !== null) return;
  await database().transaction((tx) => deleteSession(tx, userId, id));
}

/** Whoever set up the account may not own the email address, so its sessions end, and all its ways in but links by mail. */
export const emailVerificationHooks = {
  beforeEmailVerification: ({ id }: { readonly id: string }): Promise<void> => endWaysIn(id),
  /** A sign-in may have created a session since beforeEmailVerification. */
  afterEmailVerification: async ({ id }: { readonly id: string }): Promise<void> => {
    await endWaysIn(id);
    noteFirstProof(id);
  },
};

const nameOf = (name: unknown, email: string): string =>
  (typeof name === "string" ? name.trim() : "").slice(0, NAME_MAX) || email.slice(0, email.indexOf("@"));

/** Removes the provider's tokens, because the service does not need them after the sign-in. */
const withoutTokens = <T extends object>(account: T): T & Record<string, unknown> => ({
  ...account,
  accessToken: null,
  refreshToken: null,
  idToken: null,
});

export const databaseHooks: Hooks = {
  user: {
    update: {
      // Whoever opens a sign-in link owns the mailbox; better-auth ends sessions, passwords and provider links, but no passkeys.
      after: async (user, context) => {
        if (context?.path !== "/magic-link/verify" || !user.emailVerified) return;
        await deletePasskeysOf(user.id);
        noteFirstProof(user.id);
      },
    },
    create: {
      before: (user) =>
        Promise.resolve({ data: { ...user, name: nameOf(user.name, user.email), image: user.image ? user.image : null } }),
    },
  },
  account: {
    create: { before: (account) => Promise.resolve({ data: withoutTokens(account) }) },
    update: { before: (account) => Promise.resolve({ data: withoutTokens(account) }) },
  },
  session: {
    create: {
      before: async (session, context) => ({
        data: {
          ...session,
          provider: providerOf(context),
          // If rememberMe is false, better-auth sets one day, which is longer than sessions may be here.
          expiresAt: new Date(Date.now() + SESSION_SECONDS * 1000),
          activeOrganizationId: await newestOrganizationOf(session.userId),
        },
      }),
      after: async (session, context) => {
        if (context?.path === "/sign-in/email") await endWithoutPassword(session);
      },
    },
  },
};
