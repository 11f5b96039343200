import { betterAuth, type BetterAuthOptions } from "better-auth";
import { isAPIError } from "better-auth/api";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { organization as organizations } from "better-auth/plugins/organization";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { log } from "#lib/http/log.ts";
import { ownOrigins } from "#lib/http/origin.ts";
import { disabledPaths } from "#lib/identity/auth-paths.ts";
import { cookieAttributes, cookiePrefix, RENEWAL_SECONDS, SESSION_SECONDS } from "#lib/identity/session-cookie.ts";
import * as tables from "#lib/identity/tables.ts";
import { newestOrganizationOf } from "#lib/identity/user-store.ts";
import { newId, prefixes, type IdKind } from "#lib/ids.ts";
import { perProcess } from "#lib/process.ts";

const isIdKind = (model: string): model is IdKind => Object.hasOwn(prefixes, model);

/** better-auth's messages may quote the row that failed. */
function report(level: "info" | "success" | "warn" | "error" | "debug", message: string, ...details: unknown[]): void {
  const error = details.find((detail) => detail instanceof Error);
  const text = /failed query|params:/i.test(message) ? "A query of better-auth failed" : message;
  if (level === "error") log().error({ ...(error !== undefined && { error }) }, text);
  else log().warn({ ...(error !== undefined && { error }) }, text);
}

/** Behind this header stands the address that the server itself saw; serveAuth() sets it and drops what clients send. */
export const ADDRESS_HEADER = "x-countersign-address";

/** Counters in the database: more processes are not more tries. */
const rateLimit = {
  enabled: true,
  storage: "database",
  modelName: "rateLimit",
  window: 60,
  max: 120,
  customRules: {
    "/sign-in/email": { window: 60, max: 10 },
    "/sign-up/email": { window: 60, max: 10 },
    "/change-password": { window: 60, max: 5 },
  },
} as const;

const databaseHooks: NonNullable<BetterAuthOptions["databaseHooks"]> = {
  session: {
    create: {
      before: async (session) => ({
        data: {
          ...session,
          provider: "emailPassword",
          // A sign-in that is not to be remembered would live a day here, longer than one that is.
          expiresAt: new Date(Date.now() + SESSION_SECONDS * 1000),
          activeOrganizationId: await newestOrganizationOf(session.userId),
        },
      }),
    },
  },
};

const options = () =>
  ({
    appName: "Countersign",
    baseURL: env().BASE_URL,
    basePath: "/api/auth",
    secret: env().BETTER_AUTH_SECRET,
    trustedOrigins: [...ownOrigins()],
    disabledPaths,
    telemetry: { enabled: false },
    logger: { level: "warn", disableColors: true, log: report },
    // Refusals are answers; without this each is printed beside our log.
    onAPIError: {
      onError: (error) =>
        isAPIError(error) && error.statusCode < 500 ? undefined : report("error", "better-auth failed", error),
    },
    database: drizzleAdapter(database(), { provider: "pg", schema: tables, transaction: true }),
    // Without autoSignIn a sign-up answers alike for new and for known addresses.
    emailAndPassword: { enabled: true, autoSignIn: false, minPasswordLength: 12, maxPasswordLength: 128 },
    plugins: [
      organizations({
        allowUserToCreateOrganization: false,
        // Written by our onboarding alone; better-auth refuses to start where a required column is unknown to it.
        schema: {
          organization: {
            additionalFields: {
              environment: { type: "string", required: true, input: false },
              productRoles: { type: "string[]", required: true, input: false },
            },
          },
        },
      }),
    ],
    session: {
      expiresIn: SESSION_SECONDS,
      updateAge: RENEWAL_SECONDS,
      cookieCache: { enabled: false },
      additionalFields: { provider: { type: "string", required: false, input: false } },
    },
    rateLimit,
    advanced: {
      // The prefix carries __Host-, which better-auth would spoil by __Secure- in front of it.
      useSecureCookies: false,
      cookiePrefix: cookiePrefix(),
      defaultCookieAttributes: cookieAttributes(),
      disableOriginCheck: false,
      disableCSRFCheck: false,
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { generateId: ({ model }) => (isIdKind(model) ? newId(model) : crypto.randomUUID()) },
    },
    databaseHooks,
  }) satisfies BetterAuthOptions;

const create = () => betterAuth(options());

/** better-auth, which owns signing in, up and out. Made at the first request, once in a process. */
export const auth = (): ReturnType<typeof create> => perProcess("auth", create);
