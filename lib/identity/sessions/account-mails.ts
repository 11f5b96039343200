import { transact } from "#lib/audit/transact.ts";
import { takeAttempt } from "#lib/http/attempts-store.ts";
import { log } from "#lib/telemetry/log.ts";
import { withReturnTo } from "#lib/http/return-to.ts";
import { queueMail, type Mail } from "#lib/mail/queue-mail.ts";

/* better-auth makes the tokens in links; the links lead to pages of this service. */

export const MAGIC_LINK_SECONDS = 900;
export const RESET_SECONDS = 3600;
export const VERIFICATION_SECONDS = 24 * 3600;

/** One email address gets at most this many mails of one kind in a window, so that nobody can fill somebody else's mailbox. */
const MAILS_MAX = 5;
const MAILS_WINDOW_SECONDS = 900;

type Kind = "magicLink" | "verification" | "reset" | "exists" | "changed";

/** The page to open after the link: the parameter `callbackURL` of better-auth's own link, or the start page. */
const pathOf = (url: string): string => new URL(url).searchParams.get("callbackURL") ?? "/";

const link = (page: string, token: string, path: string): `/${string}` => withReturnTo(page, path, { token }) as `/${string}`;
const until = (seconds: number): Date => new Date(Date.now() + seconds * 1000);

/** Above the limit, no mail is queued and no error thrown, because an error could reveal that the address has an account. */
async function send(kind: Kind, mail: Mail): Promise<void> {
  if ((await takeAttempt(`mail:${kind}:${mail.to.toLowerCase()}`, MAILS_WINDOW_SECONDS)) > MAILS_MAX) {
    log().warn({ kind }, "Too many mails to one address; this one is not sent");
    return;
  }
  await transact((tx) => queueMail(tx, mail));
}

type LinkMail = { readonly email: string; readonly url: string; readonly token: string };

export const sendMagicLink = ({ email, url, token }: LinkMail): Promise<void> =>
  send("magicLink", {
    to: email,
    subject: "Your link to sign in",
    paragraphs: ["Open this link to sign in to Countersign. It works once, for 15 minutes."],
    action: { label: "Sign in", path: link("/sign-in/link", token, pathOf(url)) },
    note: "You get this because somebody asked to sign in with this address. If it was not you, ignore this mail: without the link nobody can sign in.",
    usefulUntil: until(MAGIC_LINK_SECONDS),
  });

export const sendVerification = ({ email, url, token }: LinkMail): Promise<void> =>
  send("verification", {
    to: email,
    subject: "Confirm your e-mail address",
    paragraphs: [
      "Confirm that this address is yours, and choose a new password for the account: the old one no longer works. The link works for 24 hours.",
    ],
    action: { label: "Confirm the address", path: link("/verify-email", token, pathOf(url)) },
    note: "You get this because somebody created an account with this address. If it was not you, ignore this mail: the account stays closed.",
    usefulUntil: until(VERIFICATION_SECONDS),
  });

export const sendReset = ({ email, url, token }: LinkMail): Promise<void> =>
  send("reset", {
    to: email,
    subject: "Choose a new password",
    paragraphs: [
      "Open this link to choose a new password. It works once, for an hour. Every session of the account ends with it.",
    ],
    action: { label: "Choose a password", path: link("/reset-password", token, pathOf(url)) },
    note: "You get this because somebody asked for it with this address. If it was not you, ignore this mail: the password stays as it is.",
    usefulUntil: until(RESET_SECONDS),
  });

/** The page of sign-up must not say that the account exists, because anybody can try any address. */
export const sendAccountExists = (email: string): Promise<void> =>
  send("exists", {
    to: email,
    subject: "You have an account already",
    paragraphs: [
      "Somebody tried to create an account with this address. You have one: sign in with it, or choose a new password if you forgot it.",
    ],
    action: { label: "Sign in", path: "/sign-in" },
    note: "If it was not you, ignore this mail: nothing changed.",
  });

export const sendPasswordChanged = (email: string): Promise<void> =>
  send("changed", {
    to: email,
    subject: "Your password was changed",
    paragraphs: ["The password of your account was changed, and every session has ended."],
    action: { label: "Choose another password", path: "/reset-password" },
    note: "If it was not you, choose another password at once and tell the people who run this service.",
  });
