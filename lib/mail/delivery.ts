import { env } from "#lib/env.ts";

/**
 * Where mails go: to the SMTP server if one is configured; otherwise in a sandbox to the page /outbox, where a developer reads
 * them; otherwise nowhere.
 */
export function mailDelivery(): "smtp" | "outbox" | "none" {
  const { SMTP_URL, ENVIRONMENT } = env();
  if (SMTP_URL !== undefined) return "smtp";
  return ENVIRONMENT === "sandbox" ? "outbox" : "none";
}
