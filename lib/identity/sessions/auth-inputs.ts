import { z } from "zod";
import { LENGTH_MAX, returnTo } from "#lib/http/return-to.ts";
import type { ServedPath } from "#lib/identity/sessions/auth-paths.ts";
import { PasskeyAssertion } from "#lib/identity/passkey-schema.ts";

/** No mail reaches these addresses, which better-auth gives to accounts of wallets, so nobody may sign up with one. */
const PLACEHOLDER = /\.invalid$/i;

const Email = z
  .email()
  .max(254)
  .refine((email) => !PLACEHOLDER.test(email), "This address cannot get mail.");
const Password = z.string().min(1).max(128);
const NewPassword = z.string().min(12).max(128);
const Token = z.string().min(1).max(2048);
const Page = z
  .string()
  .min(1)
  .max(LENGTH_MAX)
  .refine((path) => returnTo(path, "") === path, "This is not a page of this service.");

export type Endpoint = {
  readonly method: "GET" | "POST";
  readonly body?: z.ZodType;
  /** An endpoint of the OAuth plugin: it gets no cookies, and a POST has a form as body (RFC 6749). */
  readonly oauth?: true;
  /** True if the query is passed on unchanged, because better-auth reads `state` and `code` from it. */
  readonly query?: true;
  /** better-auth expects a GET; this service takes only a POST, because mail scanners open links and would use up the token. */
  readonly asGet?: true;
  /** The shortest time of an answer; a faster one could reveal that the address has no account. */
  readonly floorMs?: number;
  /** For all network addresses together, also for unknown accounts; one with a session of the account counts separately. */
  readonly triesPerAccount?: { readonly max: number; readonly windowSeconds: number };
};

/** JSON bodies have strict schemas, so that no unknown field of them reaches better-auth. */
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
