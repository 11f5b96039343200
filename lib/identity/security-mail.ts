import type { Mail } from "#lib/mail/queue-mail.ts";

const said = {
  passkeyAdded: ["A passkey was added to your account", "Your account has a new passkey. It signs in, and it approves payments."],
  passkeyRemoved: ["A passkey was removed from your account", "One of your passkeys no longer signs in to your account."],
  passwordChanged: ["Your password was changed", "The password of your account was changed. Your other sessions have ended."],
} as const;

/** Lets people act if somebody else changed their ways to sign in. */
export const securityMail = (what: keyof typeof said, email: string): Mail => ({
  to: email,
  subject: said[what][0],
  paragraphs: [said[what][1]],
  action: { label: "Look at your sign-in methods", path: "/settings/security" },
  note: "If it was not you, choose another password at once, end your other sessions, and tell the people who run this service.",
});
