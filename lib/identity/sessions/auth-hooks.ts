import type { BetterAuthOptions } from "better-auth";
import type { AuthMethod } from "#lib/identity/sessions/auth-methods.ts";
import { database } from "#lib/db/client.ts";
import { noteFirstProof } from "#lib/identity/sessions/first-proof.ts";
import { deletePasskeysOf } from "#lib/identity/passkey-store.ts";
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

/** How a session came to be, by the endpoint that makes it. One that is not known here makes none. */
export function providerOf(context: Context): AuthMethod {
  const path = context?.path ?? "";
  const id = (context?.params as { id?: unknown } | undefined)?.id;
  const way = path.startsWith("/callback/") ? (id === "google" || id === "github" ? id : undefined) : ways[path];
  if (way === undefined) throw new Error(`Not a way in: ${path}`);
  return way;
}

/**
 * A password may end while it is compared, which takes a tenth of a second. Looked at after the session is there: what ends the
 * password later than this look ends the session too.
 */
async function endWithoutPassword({ id, userId }: { readonly id: string; readonly userId: string }): Promise<void> {
  if ((await passwordHashOf(userId)) !== null) return;
  await database().transaction((tx) => deleteSession(tx, userId, id));
}

/** What confirming an address does around better-auth's own change of the row: what anybody began with the address ends. */
export const emailVerificationHooks = {
  beforeEmailVerification: ({ id }: { readonly id: string }): Promise<void> => endWaysIn(id),
  /** Once more, for a sign-in that was under way before. */
  afterEmailVerification: async ({ id }: { readonly id: string }): Promise<void> => {
    await endWaysIn(id);
    noteFirstProof(id);
  },
};

/** Whoever signs in without having said a name is called by the address until he says one. */
const nameOf = (name: unknown, email: string): string =>
  (typeof name === "string" ? name.trim() : "").slice(0, NAME_MAX) || email.slice(0, email.indexOf("@"));

/** We call no provider on anybody's behalf, so nothing is kept that could. */
const withoutTokens = <T extends object>(account: T): T & Record<string, unknown> => ({
  ...account,
  accessToken: null,
  refreshToken: null,
  idToken: null,
});

export const databaseHooks: Hooks = {
  user: {
    update: {
      // A link proved who owns the mailbox. better-auth then ends what somebody else began with the address, but not the passkeys.
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
          // A sign-in that is not to be remembered would live a day here, longer than one that is.
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
