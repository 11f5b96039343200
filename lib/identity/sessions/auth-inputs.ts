import { z } from "zod";
import { LENGTH_MAX, returnTo } from "#lib/http/return-to.ts";
import type { ServedPath } from "#lib/identity/sessions/auth-paths.ts";
import { PasskeyAssertion } from "#lib/identity/passkey-schema.ts";

/**
 * better-auth gives accounts of wallets addresses that end in .invalid. No mail reaches them, so nobody may sign up with such
 * an address.
 */
const PLACEHOLDER = /\.invalid$/i;

const Email = z
  .email()
  .max(254)
  .refine((email) => !PLACEHOLDER.test(email), "This address cannot get mail.");
const Password = z.string().min(1).max(128);
const NewPassword = z.string().min(12).max(128);
const Token = z.string().min(1).max(2048);
/** The page to open afterwards. It must be a page of this service, as returnTo() checks. */
const Page = z
  .string()
  .min(1)
  .max(LENGTH_MAX)
  .refine((path) => returnTo(path, "") === path, "This is not a page of this service.");

export type Endpoint = {
  readonly method: "GET" | "POST";
  readonly body?: z.ZodType;
  /**
   * True for an endpoint of the OAuth plugin, which programs call. Such a request is passed on without cookies, and the body of
   * a POST is a form, as RFC 6749 requires.
   */
  readonly oauth?: true;
  /** True if the query is passed on unchanged, because better-auth reads `state` and `code` from it. */
  readonly query?: true;
  /**
   * better-auth expects the token of a link in a GET. This service accepts only a POST with the token in the body, because mail
   * scanners open links and would use up the token.
   */
  readonly asGet?: true;
  /**
   * The answer takes at least this many milliseconds. better-auth does less work for an address without an account, and a
   * shorter time would reveal that.
   */
  readonly floorMs?: number;
  /**
   * How often the account of the address in the body may be tried, from all network addresses together. A network address from
   * which the account has a session has a separate count. Tries also count if there is no such account.
   */
  readonly triesPerAccount?: { readonly max: number; readonly windowSeconds: number };
};

/**
 * How requests to better-auth's endpoints are checked and passed on, if this installation offers the endpoint (isOffered). The
 * schemas are strict, so that no unknown field reaches better-auth.
 */
export const served: Readonly<Record<ServedPath, Endpoint>> = {
  "/sign-up/email": {
    method: "POST",
    body: z.strictObject({
      name: z.string().trim().min(1).max(200),
      email: Email,
      password: NewPassword,
      callbackURL: Page.optional(),
    }),
  },
  "/sign-in/email": {
    method: "POST",
    body: z.strictObject({ email: Email, password: Password, rememberMe: z.boolean().optional() }),
    triesPerAccount: { max: 30, windowSeconds: 900 },
  },
  "/sign-out": { method: "POST", body: z.strictObject({}) },
  "/get-session": { method: "GET" },
  "/request-password-reset": {
    method: "POST",
    body: z.strictObject({ email: Email, redirectTo: Page.optional() }),
    floorMs: 500,
  },
  "/reset-password": { method: "POST", body: z.strictObject({ token: Token, newPassword: NewPassword }) },
  "/send-verification-email": { method: "POST", body: z.strictObject({ email: Email, callbackURL: Page.optional() }) },
  "/verify-email": { method: "POST", body: z.strictObject({ token: Token }), asGet: true },
  "/sign-in/magic-link": { method: "POST", body: z.strictObject({ email: Email, callbackURL: Page.optional() }) },
  "/magic-link/verify": { method: "POST", body: z.strictObject({ token: Token }), asGet: true },
  "/siwe/nonce": { method: "POST", body: z.strictObject({}) },
  "/siwe/verify": {
    method: "POST",
    body: z.strictObject({ message: z.string().min(1).max(2048), signature: z.string().min(1).max(1024) }),
  },
  "/sign-in/social": {
    method: "POST",
    body: z.strictObject({
      provider: z.enum(["google", "github"]),
      callbackURL: Page.optional(),
      errorCallbackURL: Page.optional(),
    }),
  },
  "/callback/:id": { method: "GET", query: true },
  "/passkey/generate-authenticate-options": { method: "GET" },
  "/passkey/verify-authentication": { method: "POST", body: z.strictObject({ response: PasskeyAssertion }) },
  "/oauth2/authorize": { method: "GET", oauth: true },
  "/oauth2/token": { method: "POST", oauth: true },
  "/oauth2/revoke": { method: "POST", oauth: true },
};
