import { queueAfterTransactionHook } from "@better-auth/core/context";
import { betterAuth, type BetterAuthOptions } from "better-auth";
import { APIError, isAPIError } from "better-auth/api";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { magicLink } from "better-auth/plugins/magic-link";
import { organization as organizations } from "better-auth/plugins/organization";
import { siwe } from "better-auth/plugins/siwe";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { ADDRESS_HEADER } from "#lib/http/address.ts";
import { log } from "#lib/telemetry/log.ts";
import { ownOrigins } from "#lib/http/origin.ts";
import {
  MAGIC_LINK_SECONDS,
  RESET_SECONDS,
  sendAccountExists,
  sendMagicLink,
  sendPasswordChanged,
  sendReset,
  sendVerification,
  VERIFICATION_SECONDS,
} from "#lib/identity/sessions/account-mails.ts";
import { databaseHooks, emailVerificationHooks } from "#lib/identity/sessions/better-auth/auth-hooks.ts";
import { hash, hashBefore } from "#lib/identity/sessions/better-auth/early-hash.ts";
import { requiresVerifiedEmail } from "#lib/identity/sessions/auth-methods.ts";
import { disabledPaths, unofferedPaths } from "#lib/identity/sessions/auth-paths.ts";
import { cookieAttributes, cookiePrefix, RENEWAL_SECONDS, SESSION_SECONDS } from "#lib/identity/sessions/session-cookie.ts";
import { oauthServer } from "#lib/identity/sessions/better-auth/oauth-server.ts";
import { passkeySignIn } from "#lib/identity/sessions/better-auth/passkey-sign-in.ts";
import * as oauthTables from "#lib/identity/oauth-tables.ts";
import * as tables from "#lib/identity/tables.ts";
import { siweNonce, verifyWallet, walletName } from "#lib/identity/sessions/better-auth/wallet-sign-in.ts";
import { newId, prefixes, type IdKind } from "#lib/ids.ts";
import { perProcess } from "#lib/process.ts";

const isIdKind = (model: string): model is IdKind => Object.hasOwn(prefixes, model);

/** A message about a failed query may quote a database row, so another text is logged instead. */
function report(level: "info" | "success" | "warn" | "error" | "debug", message: string, ...details: unknown[]): void {
  const error = details.find((detail) => detail instanceof Error);
  const text = /failed query|params:/i.test(message) ? "A query of better-auth failed" : message;
  if (level === "error") log().error({ ...(error !== undefined && { error }) }, text);
  else log().warn({ ...(error !== undefined && { error }) }, text);
}

/** Counted in the database, so that more processes do not allow more requests. */
const minute = (max: number) => ({ window: 60, max });
/** Mails to one email address have a separate limit too. */
const mailing = { window: 900, max: 20 };
const rateLimit = {
  enabled: true,
  storage: "database",
  modelName: "rateLimit",
  window: 60,
  max: 120,
  customRules: {
    "/sign-in/email": minute(10),
    "/sign-up/email": minute(10),
    "/sign-in/magic-link": mailing,
    "/magic-link/verify": minute(10),
    "/request-password-reset": mailing,
    "/reset-password": minute(10),
    "/send-verification-email": mailing,
    "/verify-email": minute(20),
    "/sign-in/social": minute(20),
    "/callback/*": minute(20),
    "/siwe/nonce": minute(20),
    "/siwe/verify": minute(10),
    "/passkey/generate-authenticate-options": minute(20),
    "/passkey/verify-authentication": minute(10),
    "/oauth2/authorize": minute(60),
    "/oauth2/token": minute(60),
    "/oauth2/revoke": minute(60),
  },
} as const;

const plugins = () => [
  organizations({
    allowUserToCreateOrganization: false,
    // better-auth's check of the schema fails if it does not know a required column; its endpoints cannot set these two.
    schema: {
      organization: {
        additionalFields: {
          environment: { type: "string", required: true, input: false },
          productRoles: { type: "string[]", required: true, input: false },
        },
      },
    },
  }),
  magicLink({ expiresIn: MAGIC_LINK_SECONDS, storeToken: "hashed", sendMagicLink }),
  siwe({
    domain: new URL(env().BASE_URL).host,
    getNonce: siweNonce,
    verifyMessage: verifyWallet,
    ensLookup: ({ walletAddress }) => Promise.resolve({ name: walletName(walletAddress), avatar: "" }),
  }),
  passkeySignIn(),
  oauthServer(oauthTables),
];

function socialProviders() {
  const { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET = "", GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET = "" } = env();
  const requireEmailVerification = requiresVerifiedEmail();
  const of = (clientId: string, clientSecret: string) => ({ clientId, clientSecret, requireEmailVerification });
  return {
    ...(GOOGLE_CLIENT_ID !== undefined && { google: of(GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET) }),
    ...(GITHUB_CLIENT_ID !== undefined && { github: of(GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET) }),
  };
}

const options = () =>
  ({
    appName: "Countersign",
    baseURL: env().BASE_URL,
    basePath: "/api/auth",
    secret: env().BETTER_AUTH_SECRET,
    trustedOrigins: [...ownOrigins()],
    disabledPaths: [...disabledPaths, ...unofferedPaths()],
    telemetry: { enabled: false },
    logger: { level: "warn", disableColors: true, log: report },
    // better-auth would print refusals, which are normal, and errors with the values of their query, which are secret.
    onAPIError: {
      errorURL: `${env().BASE_URL}/sign-in`,
      onError: (error) => {
        if (isAPIError(error) && error.statusCode < 500) return;
        report("error", "better-auth failed", error);
        if (!isAPIError(error)) throw new APIError("INTERNAL_SERVER_ERROR");
      },
    },
    database: drizzleAdapter(database(), { provider: "pg", schema: { ...tables, ...oauthTables }, transaction: true }),
    // Without autoSignIn, a sign-up gets the same answer for a new and for a known address, so that the answer reveals nothing.
    emailAndPassword: {
      enabled: true,
      autoSignIn: false,
      minPasswordLength: 12,
      maxPasswordLength: 128,
      password: { hash },
      requireEmailVerification: requiresVerifiedEmail(),
      // After the transaction, because requests that hold one connection and wait for another could block each other.
      onExistingUserSignUp: ({ user }) => queueAfterTransactionHook(() => sendAccountExists(user.email)),
      sendResetPassword: ({ user, ...linked }) => sendReset({ ...linked, email: user.email }),
      resetPasswordTokenExpiresIn: RESET_SECONDS,
      revokeSessionsOnPasswordReset: true,
      onPasswordReset: ({ user }) => sendPasswordChanged(user.email),
    },
    emailVerification: {
      sendOnSignUp: true,
      sendOnSignIn: false,
      // Confirming an address does not sign the person in, because somebody else may have set up the account.
      autoSignInAfterVerification: false,
      expiresIn: VERIFICATION_SECONDS,
      ...emailVerificationHooks,
      sendVerificationEmail: ({ user, ...linked }) =>
        queueAfterTransactionHook(() => sendVerification({ ...linked, email: user.email })),
    },
    socialProviders: socialProviders(),
    account: { updateAccountOnSignIn: false, accountLinking: { enabled: true, requireLocalEmailVerified: true } },
    plugins: plugins(),
    session: {
      expiresIn: SESSION_SECONDS,
      updateAge: RENEWAL_SECONDS,
      cookieCache: { enabled: false },
      additionalFields: { provider: { type: "string", required: false, input: false } },
    },
    rateLimit,
    advanced: {
      // Over https the prefix is `__Host-`, which becomes invalid if better-auth puts `__Secure-` in front of it.
      useSecureCookies: false,
      cookiePrefix: cookiePrefix(),
      defaultCookieAttributes: cookieAttributes(),
      disableOriginCheck: false,
      disableCSRFCheck: false,
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { generateId: ({ model }) => (isIdKind(model) ? newId(model) : crypto.randomUUID()) },
    },
    hooks: { before: hashBefore },
    databaseHooks,
  }) satisfies BetterAuthOptions;

const create = () => betterAuth(options());

export const auth = (): ReturnType<typeof create> => perProcess("identity/sessions/auth", create);
