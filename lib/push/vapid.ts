import { createECDH } from "node:crypto";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

/** Identifies this service to push services (RFC 8292); the keys are in base64url. */
export type Vapid = { readonly subject: string; readonly publicKey: string; readonly privateKey: string };

/** RFC 8292 asks for a contact of the operator: an https URL or a mail address. */
function subject(): string {
  const { BASE_URL, MAIL_FROM } = env();
  if (BASE_URL.startsWith("https://")) return BASE_URL;
  const address = /[^<>\s]+@[^<>\s]+/.exec(MAIL_FROM ?? "")?.[0] ?? "sandbox@example.com";
  return `mailto:${address}`;
}

/** Null if no key is configured, so that no device can be registered. */
export const vapid = (): Vapid | null =>
  perProcess("push/vapid", () => {
    const { VAPID_PRIVATE_KEY: privateKey } = env();
    if (privateKey === undefined) return null;
    const pair = createECDH("prime256v1");
    pair.setPrivateKey(privateKey, "base64url");
    return { subject: subject(), publicKey: pair.getPublicKey("base64url"), privateKey };
  });
