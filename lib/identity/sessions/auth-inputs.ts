import { z } from "zod";
import { returnTo } from "#lib/http/return-to.ts";
import type { ServedPath } from "#lib/identity/sessions/auth-paths.ts";
import { PasskeyAssertion } from "#lib/identity/passkey-schema.ts";

/** The placeholder addresses of wallet accounts end in .invalid. They receive no mail, so nobody may sign up with one. */
const PLACEHOLDER = /\.invalid$/i;

const Email = z
  .email()
  .max(254)
  .refine((email) => !PLACEHOLDER.test(email), "This address cannot get mail.");
const Password = z.string().min(1).max(128);
const NewPassword = z.string().min(12).max(128);
const Token = z.string().min(1).max(2048);
/** The path to open afterwards: one of our pages, as returnTo() accepts them. */
const Page = z
  .string()
  .min(1)
  .max(1024)
  .refine((path) => returnTo(path, "") === path, "This is not a page of this service.");

export type Endpoint = {
  readonly method: "GET" | "POST";
  readonly body?: z.ZodType;
  /** The query is passed on unchanged; better-auth reads state and code from it. */
  readonly query?: true;
  /** better-auth takes the link's token by GET. Ours is a POST with the token in its body, so that a mail scanner cannot use it up. */
  readonly asGet?: true;
  /** The minimum time of the answer: better-auth does less work for an address without an account, and the time would reveal that. */
  readonly floorMs?: number;
  /** Tries for the account whose address is in the body, from all network addresses together; counted even if no such account exists. */
  readonly triesPerAccount?: { readonly max: number; readonly windowSeconds: number };
};

/** Strict like our own operations: no unlisted field reaches better-auth. */
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
};
