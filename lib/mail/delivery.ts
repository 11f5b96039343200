import { env } from "#lib/env.ts";

/** In a sandbox without SMTP, a developer reads the mails on the page /outbox. */
export function mailDelivery(): "smtp" | "outbox" | "none" {
  const { SMTP_URL, ENVIRONMENT } = env();
  if (SMTP_URL !== undefined) return "smtp";
  return ENVIRONMENT === "sandbox" ? "outbox" : "none";
}
